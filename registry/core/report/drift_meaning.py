"""Drift meaning: what a finding means, in words: the texts of its class, its rule and the value forms it expects."""

from __future__ import annotations

from collections.abc import Iterable

from cdc_contracts.registry.core.common.findings import CLASSES, find_cause
from cdc_contracts.registry.core.validate.drift_rule import CROSS_FIELD, drift_rules
from cdc_contracts.registry.core.values import FORMS


def explain_drift(name: str, rule: str, expected: Iterable[str], observed: Iterable[str] = ()) -> str:
    """Return what a finding means: the text of its class, then that of its rule or of the expected value form."""
    cause = find_cause(rule)
    if cause is not None and cause.instead:
        return cause.says
    strange = cause is not None and {*map(_subject, observed)} - {*map(_subject, expected)}
    says = [(cause.of_another_subject if cause and strange else "") or CLASSES[name].says]
    if name == CROSS_FIELD:
        says.append(drift_rules()[rule.partition(".")[2]].says)
    elif cause is not None and cause.says:
        says.append(cause.says)
    else:
        says += [f"`{form}` is: {FORMS[form].says}" for form in sorted(expected) if form in FORMS]
    return " ".join(says)


def _subject(reference: str) -> str:
    return reference.partition("@")[0]
