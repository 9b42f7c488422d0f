"""Compatibility output: a verdict for people: each break with both places, the reason, and the proof."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.safe_text import list_first
from cdc_contracts.registry.core.values import FORMS

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
        CompatibilityFinding,
        CompatibilityVerdict,
        TextPlace,
    )
    from cdc_contracts.registry.authoring.compat.version_pairs import PairOutcome

_WORDS = {True: "COMPATIBLE", False: "INCOMPATIBLE", None: "UNDECIDED"}
_STYLES = {True: "bold green", False: "bold red", None: "bold yellow"}
_ASKED = {
    "cdc": "policy cdc: does each version read the messages of the other correctly?",
    "confluent-strict": "policy confluent-strict, level {level}: as Confluent's registry decides, strict",
    "confluent-lenient": "policy confluent-lenient, level {level}: as Confluent's registry decides, lenient",
}
_PROOFS = {
    "refused-by-new": "{old} accepts this message, {new} rejects it:",
    "refused-by-old": "{new} accepts this message, {old} rejects it:",
    "read-differently": "both accept this message and read it differently:",
}
_MOST_NAMED = 4
_LONGEST = 160


def print_verdict(verdict: CompatibilityVerdict, named: Sequence[str], *, asked: str | None = None) -> None:
    """Print the verdict of one comparison: first breaking and undecided findings, then short notes.

    `asked` is the question it answers, if it is not the one of the policy.
    """
    olds, new = ", ".join(named[:-1]), named[-1]
    result = {True: f"{new} with {olds}", False: f"{new} with {olds}", None: f"{new} with {olds}: check by hand"}
    console.print_text(f"{_WORDS[verdict.compatible]}: {result[verdict.compatible]}", first=_STYLES[verdict.compatible])
    console.print_text(asked or _ASKED[verdict.policy].format(level=verdict.level))
    heavy = [one for one in verdict.findings if one.severity != "note"]
    explained: set[str] = set()
    for finding in heavy:
        if named[2:]:
            console.print_line(f"\nagainst {finding.old_version}")
        print_finding(finding, explain=finding.says not in explained)
        explained.add(finding.says)
    notes = [one for one in verdict.findings if one.severity == "note"]
    if notes:
        console.print_heading("Notes: these break no reader")
        console.print_table(
            ["", "", ""], [(f"{one.rule} {one.name}", one.path, _change(one)) for one in notes], fixed=2
        )
    if heavy:
        console.say(f"\n`cdc-contracts rules show {heavy[0].rule}` explains a rule; --json has everything.")


def print_finding(finding: CompatibilityFinding, *, explain: bool = True) -> None:
    """Print one finding: both sides with their places, the proof; cause and solution unless printed before."""
    console.print_heading(f"{finding.severity} {finding.rule} {finding.name} {finding.path}".rstrip())
    old, new = _short_names(finding)
    lines = [*_side_lines(old, finding.old, finding.old_place), *_side_lines(new, finding.new, finding.new_place)]
    lines += [("why", finding.says)] if explain else []
    if finding.proof is not None:
        proof = finding.proof
        lines.append(("proof", _PROOFS[proof.kind].format(old=_called(old), new=_called(new))))
        lines.append(("", json.dumps(proof.message, ensure_ascii=False)))
        lines += [(old, _shown(proof.old)), (new, _shown(proof.new)), ("", f"(checked by {proof.checked_by})")]
    lines += [("fix", finding.action)] if explain else []
    lines += [("also", "; ".join(finding.also))] if finding.also else []
    lines += [("name", f"{finding.confluent_rule} at Confluent")] if finding.confluent_rule is not None else []
    console.print_table(["", ""], [(f"  {name}" if name else "", text) for name, text in lines])


def _short_names(finding: CompatibilityFinding) -> tuple[str, str]:
    """Return short names of the two versions: `@1` and `@2` if they are of one subject."""
    old, new = (name.partition("@") for name in (finding.old_version, finding.new_version))
    return (f"@{old[2]}", f"@{new[2]}") if old[0] == new[0] and old[2] != new[2] else ("old", "new")


def _called(name: str) -> str:
    return name if name.startswith("@") else f"the {name} version"


def _side_lines(name: str, value: Any, place: TextPlace | None) -> Iterator[tuple[str, str]]:
    """Yield the value of one version, its meaning if it is a value form, and its place."""
    yield name, _shown(value)
    form = FORMS.get(value) if isinstance(value, str) else None
    yield from [("", f"({form.says})")] if form is not None else []
    where = _where(place)
    yield from [("", where)] if where else []


def print_outcome(outcome: PairOutcome) -> None:
    """Write one line for a pair of a list."""
    names = " -> ".join(outcome.names)
    if outcome.verdict is None:
        console.print_line(f"error         {names}: {outcome.error}")
        return
    heavy = list(dict.fromkeys(f"{one.rule} {one.path}" for one in outcome.verdict.findings if one.severity != "note"))
    result = f": {list_first(heavy, _MOST_NAMED)}" if heavy else ""
    console.print_line(f"{_WORDS[outcome.verdict.compatible].lower():13} {names}{result}")


def _change(finding: CompatibilityFinding) -> str:
    if finding.old is None or finding.new is None:
        only = finding.new_version if finding.old is None else finding.old_version
        return f"only {only}: {_shown(finding.new if finding.old is None else finding.old)}"
    return f"{_shown(finding.old)} → {_shown(finding.new)}"


def _shown(value: Any) -> str:
    """Return a value for printing: text unchanged, anything else as JSON, cut if very long."""
    text = value if isinstance(value, str) else "-" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST or isinstance(value, str) else text[:_LONGEST] + " …"


def _where(place: TextPlace | None) -> str:
    """Return the place of a value, with the shortest path from the working directory."""
    if place is None or place.file is None:
        return "" if place is None else place.pointer
    at = "" if place.line is None else f":{place.line}:{place.column}"
    return f"{_short(place.file)}{at}{' ' + place.pointer if place.line is None and place.pointer else ''}"


def _short(file: str) -> str:
    from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

    for root in shipped_catalogue().roots:
        if file.startswith(f"{root}/"):
            return file.removeprefix(f"{root}/")
    try:
        return str(Path(file).resolve().relative_to(Path.cwd()))
    except ValueError:
        return file
