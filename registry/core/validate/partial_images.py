"""Partial images: common parts of rules about images of changed columns and the images that complete them."""

from __future__ import annotations

from collections.abc import Iterator

from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.message.reading import Reading, column_path
from cdc_contracts.registry.core.validate.drift_rule import Edits
from cdc_contracts.registry.core.validate.message_edits import path_of_row
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView


def partial_keys_in_full(view: RuleView) -> Iterator[Breach]:
    """A changed-columns image has no column that the image below it lacks (a warning), unless rows may lack columns."""
    reading, meaning = view.reading, view.reading.meaning
    for side in () if reading.reading_options.may_lack_columns(meaning.columns) else view.sides():
        below = reading.rows(side.completed_from) if side.completed_from else None
        for index, row in enumerate(reading.rows(side.at) or ()) if below else ():
            full = below[index] if below and index < len(below) else {}
            for name in row:
                if name not in full:
                    yield Breach(
                        column_path(reading, side.at, name), f"a column of {side.completed_from}", "absent", WARNING
                    )


def has_partial_row(reading: Reading) -> bool:
    """Return whether a message holds the changed columns of a row."""
    return any(side.completed_from and reading.rows(side.at) is not None for side in reading.sides)


def rename_changed_column(reading: Reading) -> Iterator[Edits]:
    """Yield the message with a changed column under a name that the full image does not have."""
    for side in reading.sides:
        rows = reading.rows(side.at) if side.completed_from and reading.rows(side.completed_from) else None
        if rows:
            row = path_of_row(reading, side.at)
            for name, value in rows[0].items():
                yield {(*row, name): ABSENT, (*row, f"{name}_renamed"): value}
            yield {(*row, "renamed"): None}
