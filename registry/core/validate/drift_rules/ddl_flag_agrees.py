from collections.abc import Iterator, Sequence
from typing import Final

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.discriminators import all_hold, pointers_of
from cdc_contracts.registry.core.contract.document_model import DDL_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, Edits
from cdc_contracts.registry.core.validate.rule_inputs import Reads
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView

_FLAG: Final = "/isDdl"


def check(view: RuleView) -> Iterator[Breach]:
    """`isDdl` is true exactly where the op code is one of DDL; a TRUNCATE is one.

    A code that means DDL or not by the flag itself agrees with it either way.
    """
    reading = view.reading
    flag, mapped = reading.at(_FLAG), reading.meaning.ops.get(reading.code or "")
    flags = (one for one in reading.meaning.envelope.op.flags if _FLAG in pointers_of(one.when))
    if any(all_hold(one.when, reading.message) for one in flags):
        return
    if isinstance(flag, bool) and mapped is not None and flag != (mapped in DDL_OPS):
        yield Breach(_FLAG, str(not flag).lower(), str(flag).lower())


def breaks(reading: Reading) -> Iterator[Edits]:
    """Yield the message with the flag inverted."""
    flag = reading.at(_FLAG)
    if isinstance(flag, bool):
        yield {split_pointer(_FLAG): not flag}


def places(meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield the flag."""
    yield _FLAG


RULE = DriftRule(
    name="ddl-flag-agrees", severity=ERROR,
    says="The DDL flag is true exactly when the op code is the DDL code.",
    action="Trust neither: inspect the message with `why`, and check whether the producer was upgraded.",
    good='"type": "DDL" with "isDdl": true', bad='"type": "INSERT" with "isDdl": true',
    check=check, reads=lambda meaning: Reads(values=(_FLAG,)), without_rows=True,
    exercised_by=lambda reading: isinstance(reading.at(_FLAG), bool), breaks=breaks, places=places, listed_at=9,
)  # fmt: skip
