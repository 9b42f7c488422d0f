"""Compatibility rule: what is compared between two versions, and what to do where it breaks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompatibilityRule:
    """One way in which two versions differ. `id` never changes; `confluent` is Confluent's name, if any."""

    id: str
    name: str
    severity: str
    says: str
    action: str
    good: str
    bad: str
    confluent: str | None = None
