from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import is_integer
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.jdbc_type_codes import DRS_DATETIME, JDBC_CODES, is_type_code
from cdc_contracts.registry.core.validate.rule_inputs import Reads, type_places
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView
from cdc_contracts.registry.core.values import Number, describe_shape


def check(view: RuleView) -> Iterator[Breach]:
    """The numeric code of a column fits its type name."""
    reading, codes = view.reading, view.reading.meaning.columns.codes
    if codes is None or codes.table == "any" or reading.types is None:
        return
    found = reading.at(codes.at)
    for name, code in found.items() if isinstance(found, dict) else ():
        of = view.mapping.normalise(reading.types.get(name, ""))
        known = JDBC_CODES.get(of)
        if known is None or not is_integer(code):
            continue
        own = codes.table == "drs-codes" and of == "DATETIME" and code.token == DRS_DATETIME
        if code.token not in known and not own:
            shown = code.token if is_type_code(code.token) else describe_shape(code)
            yield Breach(join_pointer(*codes.at[1:].split("/"), name), f"a code of {of}", shown)


def exercised_by(reading: Reading) -> bool:
    """Return whether a message has types and their codes."""
    codes = reading.meaning.columns.codes
    return codes is not None and bool(reading.types) and isinstance(reading.at(codes.at), dict)


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with the code of a text, then of a date, for one column after the other."""
    codes = reading.meaning.columns.codes
    if codes is None:
        return
    found = reading.at(codes.at)
    for name in found if isinstance(found, dict) else ():
        for code in ("12", "91"):
            yield {(*split_pointer(codes.at), name): Number(code)}


def reads(meaning: Meaning) -> Reads:
    """Declare that the codes are read."""
    return Reads(values=(meaning.columns.codes.at,) if meaning.columns.codes else ())


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield where types and codes are."""
    for meaning in meanings:
        yield from type_places(meaning, meanings)


RULE = DriftRule(
    name="codes-match-types", severity=ERROR,
    says="The numeric type code of a column fits its type name. The code is checked, never used to decode.",
    action="Compare both type maps with the table: one of them comes from another source.",
    good='"sqlType": {"id": 4} with "mysqlType": {"id": "int"}',
    bad='"sqlType": {"id": 91} with "mysqlType": {"id": "int"}',
    check=check, reads=reads, exercised_by=exercised_by, breaks=breaks, places=places, listed_at=3,
)  # fmt: skip
