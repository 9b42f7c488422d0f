"""Reasons: what a finding means and why it matters, in words of our own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cdc_contracts.registry.common.findings import CLASSES, rule_id
from cdc_contracts.registry.explain.rulebook import find_rule
from cdc_contracts.registry.validate.cross_field_rules import CROSS_FIELD
from cdc_contracts.registry.validate.verdicts import LEFT_OPEN
from cdc_contracts.registry.values import FORMS

_CAUSES: Final = {
    "D01.utf8": "The bytes are not UTF-8: another character set, or something that is no text at all.",
    "D01.json": "The text does not end where its object does, ends before it, or is not JSON.",
    "D01.bom": "A byte order mark stands before the text, which JSON does not allow.",
    "D01.empty": "The value is there and holds nothing.",
    "D01.too-long": "The value is longer than a message may be.",
    "D01.depth": "Arrays and objects are nested deeper than any reader should follow.",
    "D01.base64": "The value was to be base64 with a message in it, and is not.",
    "D01.connect-json": "The value was to be a Connect envelope with a message as its payload, and is not.",
    "D01.surrogate": "Half of a surrogate pair stands alone: a text was cut inside a character.",
    "D01.not-object": "The value is JSON, but not an object.",
    "D01.duplicate-member": "One member stands twice, and which of them counts is for each reader to guess.",
    "D01.avro": "The bytes are no record of the schema, or bytes are left after it.",
    "D01.not-judged": "This program failed on the message: please report it.",
    "D03.images": "The row stands where the other version has it; read by this one, before and after change places.",
    "D07.time-unit": "Read in the unit that the contract names, the moment lies in another age (as 1970), or in none.",
    "D07.no-such-time": "The table contract declares a date or time, and the calendar has none such. It stays as sent.",
    "D07.trailing-zeros": "The document leaves zeros at the end of a fraction out. The moment is the same with them.",
    "D08.op": "What such a message does to a row is not known, so it is not read.",
    "D08.source-type": "How values of that type are written is not known, so they are not read.",
    "D08.source-kind": "The document knows no such messages from a source of that kind; the row is read all the same.",
    "D11.new-column": "Rows have a column that they did not have, or that the table contract does not list.",
    "D11.lost-column": "Rows lack a column that they had, or that the table contract lists.",
    "D11.column-type": "A column has another source type than it had, or than the table contract lists.",
    "D11.dropped-column": "A statement in the topic dropped the column, and rows behind it still have it.",
    "D11.column-form": "The values of a column are written otherwise than they were, and the messages tell no type.",
    "D11.not-null": "The table contract says that the column is never NULL, and it is.",
    "D11.primary-key": "The key of the rows is not the one that the table contract names.",
    "D12.goes-back": "A record stands behind one with a higher position: something was sent again, or by two senders.",
    "D12.repeats": "A record has the position of the one before it: it was sent twice, or two changes share a number.",
    "D14.digits": "Written out it would have more than 4,096 characters.",
    "D14.range": "The number is beyond the type that the table contract declares for its column.",
    "D14.scale": "The number has more digits after the point than the table contract declares for its column.",
    "D14.second-digits": "The time has more digits of a second than the table contract declares, and than tables keep.",
}
_LEFT_OPEN: Final = (
    "No range of the versions file covers the place where the message stands, so it belongs to no version."
)


_IMAGES: Final = rule_id("other-version", "images")
_OF_ANOTHER_SUBJECT: Final = (
    "The message is not of the version it is judged by: key chains prove one of another subject."
)


def _subject(reference: str) -> str:
    return reference.partition("@")[0]


def explain_drift(name: str, rule: str, expected: Iterable[str], observed: Iterable[str] = ()) -> str:
    """Say what a finding means: what its class says, then its rule or the value form that was wanted."""
    if rule == LEFT_OPEN:
        return _LEFT_OPEN
    strange = rule == _IMAGES and {*map(_subject, observed)} - {*map(_subject, expected)}
    says = [_OF_ANOTHER_SUBJECT if strange else CLASSES[name].says]
    if name == CROSS_FIELD:
        says.append(find_rule(rule).says)
    elif rule in _CAUSES:
        says.append(_CAUSES[rule])
    else:
        says += [f"Wanted is {form}: {FORMS[form].says}" for form in sorted(expected) if form in FORMS]
    return " ".join(says)
