"""Unlisted tables: findings on tables that no table contract lists, with the nearest name that one lists."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from cdc_contracts.registry.core.stats.record_facts import UNKNOWN_TABLE
from cdc_contracts.registry.core.stats.tally import Tally

NEAREST: Final = ", nearest "
_MOST_COMPARED: Final = 200
"""Tables whose names are compared: of more, few are misspelt, and each takes some 50 microseconds a listed one."""


def name_nearest(tally: Tally, listed: Sequence[str]) -> None:
    """Add the nearest listed name to what is expected of each table that is not listed, if they are few."""
    found = [key for key in tally.findings if key.name == UNKNOWN_TABLE]
    for key in found if len(found) <= _MOST_COMPARED else ():
        nearest = difflib.get_close_matches(key.table or "", listed, 1)
        if nearest:
            finding = tally.findings[key]
            expected = Counter({f"{text}{NEAREST}{nearest[0]}": count for text, count in finding.expected.items()})
            tally.findings[key] = replace(finding, expected=expected)
