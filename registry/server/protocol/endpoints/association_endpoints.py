"""`/associations`: which subjects describe a topic's keys and values: none but those named after it.

The serializers of newer clients ask before the first message, and then use the topic's name.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

ROUTER = APIRouter(tags=["associations"])


@ROUTER.get("/associations/resources/{namespace}/{name}", response_model=list[Any])
def list_associations_of_name(namespace: str, name: str) -> Any:
    """List the subjects of a topic that are not named after it: none."""
    return []


@ROUTER.get("/associations/resources/{resource_id}", response_model=list[Any])
def list_associations_of_id(resource_id: str) -> Any:
    """List the subjects of a topic that are not named after it, by its id: none."""
    return []
