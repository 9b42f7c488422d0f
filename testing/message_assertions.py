"""Message assertions: messages must conform to a contract; a failure lists the findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cdc_contracts.api.arguments import Tables
from cdc_contracts.api.contracts import Folders, contract
from cdc_contracts.api.messages import Message, values_of
from cdc_contracts.registry.core.common.findings import SEVERITIES

_MOST_SHOWN = 10


def assert_conforms(
    messages: Iterable[Message],
    reference: str,
    *,
    tables: Tables | None = None,
    table: str | None = None,
    parameters: Mapping[str, str] | None = None,
    contracts: Folders | None = None,
    fail_on: str = "warning",
) -> None:
    """Fail with the findings if a message does not conform to a contract, or has a finding of `fail_on` or above.

    It fails without messages, too: a producer that sent nothing, or an iterator that was read before, proves nothing.
    The other arguments are those of `cdc_contracts.contract()`. Raises AssertionError, or UsageError for a wrong call.
    """
    __tracebackhide__ = True
    validator = contract(reference, tables=tables, table=table, parameters=parameters, contracts=contracts)
    grave = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    lines: list[str] = []
    read = failed = 0
    for number, value in enumerate(values_of(messages)):
        read += 1
        checked = validator.check(value)
        found = [finding for finding in checked.findings if finding.severity in grave]
        failed += bool(found)
        lines += (f"message {number}: {finding}" for finding in found)
    if read == 0:
        raise AssertionError(f"there are no messages to check against {reference}")
    if failed:
        more = [f"and {len(lines) - _MOST_SHOWN} more"] if len(lines) > _MOST_SHOWN else []
        head = f"{failed} of {read} messages {'does' if failed == 1 else 'do'} not conform to {reference}"
        raise AssertionError("\n".join([head, *lines[:_MOST_SHOWN], *more]))
