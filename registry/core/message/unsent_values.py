"""Unsent values: the values of columns that stand for one which was not sent, as a contract names them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from cdc_contracts.registry.core.common.json_structures import as_structure
from cdc_contracts.registry.core.contract.image_model import AbsentValues


class StandIns(NamedTuple):
    """The values of an image that stand for one which was not sent: some texts, and null if `nulls`."""

    texts: frozenset[str]
    nulls: bool

    def holds(self, value: Any) -> bool:
        """Return whether a parsed value stands for one that was not sent."""
        if isinstance(value, list | dict):
            value = as_structure(value)
        return (value is None and self.nulls) or (isinstance(value, str) and value in self.texts)


@lru_cache(1024)
def stand_ins_of(absent: AbsentValues, kind: str | None, pointer: str) -> StandIns | None:
    """Return what stands for values that were not sent, in an image of messages from a kind of source database."""
    nulls = pointer in absent.nulls.get(kind or "", ())
    return StandIns(frozenset(absent.texts), nulls) if nulls or absent.texts else None
