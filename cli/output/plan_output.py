"""Plan output: a line per step, as text or JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.safe_text import visible

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.sync.sync_plans import PlanStep, SyncPlan


def print_json_or_text(plan: SyncPlan, *, as_json: bool) -> None:
    """Write a plan to stdout."""
    if as_json:
        console.print_json(as_data(plan))
    else:
        print_plan(plan)


def print_plan(plan: SyncPlan) -> None:
    """Print a plan for people: additions (+), settings (~), deletions (-), and refusals (!)."""
    for step in plan.steps:
        console.print_line(line_of(step))
    for refusal in plan.refusals:
        at = f" {refusal.version}" if refusal.version else ""
        console.print_text(f"! {refusal.subject}{at}: {refusal.why}")
        for proof in refusal.proofs:
            console.print_text(f"    {proof}")
    for left in plan.left:
        console.print_text(f"  {left}")
    console.say(summary(plan))


def summary(plan: SyncPlan) -> str:
    """Return a plan in a sentence."""
    if plan.changes_nothing:
        return "nothing to do"
    counts = Counter(step.action.value for step in plan.steps)
    parts = [f"{counts[name]} to {name}" for name in ("register", "delete") if counts[name]]
    parts += [f"{counts['config'] + counts['mode']} to set"] if counts["config"] + counts["mode"] else []
    parts += [f"{len(plan.refusals)} refused: nothing will be written"] if plan.refusals else []
    return ", ".join(parts)


def line_of(step: PlanStep) -> str:
    """Return a step as a line, with control characters escaped: subject names come from other users."""
    return visible(_describe_step(step), most=None)


def _describe_step(step: PlanStep) -> str:
    at = f" {step.version}" if step.version else ""
    if step.action == "register":
        contract = step.schema.contract if step.schema else None
        said = [f"id {step.id}" if step.id else "id assigned by the server", *([str(contract)] if contract else [])]
        said += ["deleted"] if step.schema and step.schema.deleted else []
        return f"+ {step.subject}{at} ({', '.join(said)})"
    if step.action == "delete":
        return f"- {step.subject}{at}"
    validation = step.subject or "the whole registry"
    why = f" ({step.why})" if step.why else ""
    return f"~ {validation} {step.action.value} {_setting(step.before)} -> {_setting(step.after)}{why}"


def as_data(plan: SyncPlan) -> dict[str, Any]:
    """Return a plan as data."""
    return {
        "steps": [step_data(step) for step in plan.steps],
        "refused": [
            {"subject": one.subject, "version": one.version, "why": one.why, "proofs": list(one.proofs)}
            for one in plan.refusals
        ],
        "left": list(plan.left),
    }


def step_data(step: PlanStep) -> dict[str, Any]:
    """Return a step as data."""
    data: dict[str, Any] = {"action": step.action.value, "subject": step.subject}
    if step.action in ("register", "delete"):
        contract = step.schema.contract if step.schema else None
        named = None if contract is None else f"{contract.name}@{contract.version}"
        return {**data, "version": step.version, "id": step.id, "contract": named}
    return {**data, "before": step.before, "after": step.after, "why": step.why}


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={one}" for key, one in sorted(value.items()))
    return "unset" if value is None else str(value)
