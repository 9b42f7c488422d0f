"""Lint samples: common parts of rules about samples: the results, the expectations, and the first difference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.lint.lint_rule import LintFault
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.pointers import join_pointer

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.lint.lint_run import LintRun
    from cdc_contracts.registry.core.generate.contract_samples import Sample
    from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage

HOLDING: Final = ("conforming", "control")


_LONGEST: Final = 60


NOWHERE: Final = object()


def validated_samples(run: LintRun, *, drifts: bool) -> Iterator[tuple[Sample, ValidatedMessage]]:
    """Yield the samples under lint that drift, or those that conform, with their verdicts."""
    for entries in run.validated.values():
        yield from ((sample, validated) for sample, validated in entries if sample.drifts is drifts)


def expectation_of(sample: Sample) -> Any:
    """Return the expectation of a sample; NOWHERE if it cannot be read, which another rule reports."""
    try:
        return sample.expected()
    except ContractError:
        return NOWHERE


def find_difference(sample: Sample, result: Any) -> Iterator[LintFault]:
    """Yield the first place where the result of a sample differs from the stored expectation."""
    expected = expectation_of(sample)
    if expected is NOWHERE or expected == result:
        return
    if isinstance(result, list) and not (isinstance(expected, list) and all(isinstance(one, dict) for one in expected)):
        says = 'a list with an object for each row change, as in `[{"op": "insert", "after": {"id": "1"}, …}]`'
        yield LintFault(sample.expectation, says, f"{_shown(expected)}, for {len(result)} of them")
        return
    parts, wanted, found = _first_difference(expected, result, ())
    at = join_pointer(*parts) or "the whole"
    shown = [_shown(wanted), _shown(found)]
    if shown[0] == shown[1]:  # a number and its text
        shown = [json.dumps(one, ensure_ascii=False)[:_LONGEST] for one in (wanted, found)]
    yield LintFault(sample.expectation, f"{at}: {shown[0]}", shown[1], parts)


def _first_difference(expected: Any, found: Any, parts: tuple[str, ...]) -> tuple[tuple[str, ...], Any, Any]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in [*expected, *found]:
            left, right = expected.get(name, NOWHERE), found.get(name, NOWHERE)
            if left is NOWHERE or right is NOWHERE or left != right:
                return _first_difference(left, right, (*parts, name))
    if isinstance(expected, list) and isinstance(found, list):
        for index in range(max(len(expected), len(found))):
            left = expected[index] if index < len(expected) else NOWHERE
            right = found[index] if index < len(found) else NOWHERE
            if left is NOWHERE or right is NOWHERE or left != right:
                return _first_difference(left, right, (*parts, str(index)))
    return parts, expected, found


def _shown(value: Any) -> str:
    if value is NOWHERE:
        return "nothing"
    shown = "null" if value is None else str(value)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"
