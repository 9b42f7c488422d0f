"""Messages that look wrapped: what `--unwrap` would take out of values that fit nothing as they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.detection.hearing import Hearing
from cdc_contracts.registry.detection.testimony import Place
from cdc_contracts.registry.messages import Unreadable, parse_message
from cdc_contracts.registry.unwrapping import WRAPPINGS, unwrap
from cdc_contracts.registry.wrappings import guess_bytes, guess_wrapping

_NOWHERE: Final = Place("", 0, 0)


def tell_wrapping(hearing: Hearing) -> str | None:
    """Return what most of the values that nothing takes seem to be, and how to read them; None where they do not."""
    told = Counter(hint for value in hearing.samples for hint in list(_hints(hearing, value))[:1])
    hint, count = max(told.items(), key=lambda one: one[1], default=(None, 0))
    return hint if 2 * count > len(hearing.samples) else None


def _hints(hearing: Hearing, value: bytes) -> Iterator[str]:
    for wrapping, says in WRAPPINGS.items():
        try:
            inside = unwrap(value, wrapping)
        except Unreadable:
            continue
        if inside is not None and hearing.panel.hear(_NOWHERE, inside).fits:
            yield f"The values look like {says}: --unwrap {wrapping} reads what is inside."
    try:
        guess = guess_bytes(value) or guess_wrapping(parse_message(value))
    except Unreadable:
        return
    if guess is not None:
        yield f"The values look like {guess.says}. {guess.action}"
