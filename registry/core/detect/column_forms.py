"""Column forms: the value form of each column in topics whose messages have no types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.detect.message_evidence import MessageEvidence
from cdc_contracts.registry.core.detect.outliers import most_outliers
from cdc_contracts.registry.core.message.canonical_changes import Change
from cdc_contracts.registry.core.values import FORMS, READ, BrokenValue, Context

ENOUGH: Final = 20
"""Values of a column that have to be written alike before it says anything."""

_TELLING: Final = "datetime"
"""The kind whose forms no other text looks like; numbers and Base64 look like too much else."""


@dataclass
class _Column:
    values: int = 0
    written: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class ColumnForms:
    """The value forms of untyped columns, as far as they distinguish versions."""

    def __init__(self, versions: Sequence[Version]) -> None:
        self._form_of = {version: form for version in versions if (form := _distinguishing_form(version)) is not None}
        self._forms = tuple(dict.fromkeys(self._form_of.values()))
        self._columns: dict[tuple[str | None, str | None, str | None, str], _Column] = defaultdict(_Column)

    def take(self, message_evidence: MessageEvidence) -> None:
        """Add the values of an untyped message."""
        if len(self._forms) < 2:  # noqa: PLR2004  a single form distinguishes nothing
            return
        changes = next(
            (message_evidence.fits[version].changes for version in self._form_of if version in message_evidence.fits),
            (),
        )
        for change in changes:
            if change.types_from == "none":
                self._take_change(change)

    def votes(self) -> Iterator[tuple[Version, Version, str]]:
        """Yield, for every column in the form of one version except outliers, that version, another, and the column."""
        for (*_, name), column in sorted(self._columns.items(), key=lambda entry: str(entry[0])):
            few = most_outliers(column.values)
            always = [form for form in self._forms if column.values - column.written[form] <= few]
            if column.values < ENOUGH:
                continue
            for version, form in self._form_of.items():
                if form in always:
                    yield from (
                        (version, other, name)
                        for other, its in self._form_of.items()
                        if its not in always and column.written[its] <= few
                    )

    def _take_change(self, change: Change) -> None:
        for name, text in (change.after or change.before or {}).items():
            if text is None:
                continue
            column = self._columns[change.database, change.schema, change.table, name]
            column.values += 1
            for form in self._forms:
                column.written[form] += _is_written(form, text)


def _distinguishing_form(version: Version) -> str | None:
    """Return the form by which a version writes the type that distinguishes versions in untyped columns."""
    meaning = version.meaning
    if meaning.columns.types != "none":
        return None
    for name in version.mapping_names():
        form = version.catalogue.mapping(name).form_of(_TELLING.upper())
        if form is not None and FORMS[form].kind == _TELLING:
            return form
    return None


def _is_written(form: str, text: str) -> bool:
    try:
        return FORMS[form].read(text, Context()).flag in READ
    except BrokenValue:
        return False
