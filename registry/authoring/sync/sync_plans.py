"""Sync plans: the steps that bring a server in line with a folder, and what prevents them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from cdc_contracts.registry.authoring.sync.registry_contents import (
    GLOBAL,
    HeldSchema,
    Holdings,
    Position,
    ScopeSettings,
)
from cdc_contracts.registry.authoring.sync.subject_names import context_of, qualify

IMPORT: Final = "IMPORT"
"""The mode in which a registry accepts ids and versions from the client."""


OVERRIDE: Final = "READONLY_OVERRIDE"
"""The mode of a whole registry that overrides all other modes."""
READ_ONLY: Final = ("READONLY", OVERRIDE)


class Action(StrEnum):
    """What a step does."""

    REGISTER = "register"
    DELETE = "delete"
    CONFIG = "config"
    MODE = "mode"


@dataclass(frozen=True, slots=True, eq=False)
class PlanStep:
    """One change to the server. `before` and `after` are the values of a setting, None if unset.

    `why` is the reason for a setting that no file asks for.
    """

    action: Action
    subject: str
    version: int | None = None
    id: int | None = None
    schema: HeldSchema | None = None
    before: Any = None
    after: Any = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class PlanRefusal:
    """Why nothing is applied: the server cannot be brought in line with the folder."""

    subject: str
    version: int | None
    why: str
    proofs: tuple[str, ...] = ()


@dataclass(slots=True)
class SyncPlan:
    """The steps in order; the refusals; ids to record in the folder; what is left unchanged, and why."""

    steps: list[PlanStep] = field(default_factory=list)
    refusals: list[PlanRefusal] = field(default_factory=list)
    learned: list[HeldSchema] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def changes_nothing(self) -> bool:
        return not self.steps and not self.refusals

    def of(self, action: Action) -> list[PlanStep]:
        return [step for step in self.steps if step.action is action]


def plan_changes(
    wanted: Holdings, held: Holdings, *, prune: bool, others: Sequence[str] = (), kept: Collection[str] = ()
) -> SyncPlan:
    """Return the plan from the contents `held` of a server to those a folder wants.

    Nothing is deleted unless `prune`, and never from the subjects `kept`; `others` are the subjects of the server
    that the folder does not name.
    """
    plan = SyncPlan()
    for schema in in_order_of_references(wanted):
        _plan_schema(schema, held, plan, prune=prune)
    extra = [one for one in held.schemas.values() if one.position not in wanted.schemas and not one.deleted]
    extra = [one for one in extra if one.subject not in kept]
    if prune:
        gone = [one for one in reversed(in_order_of_references(held)) if one in extra]
        plan.steps += [PlanStep(Action.DELETE, one.subject, one.version, one.id, one) for one in gone]
    elif extra or others:
        names = sorted({one.subject for one in extra} | set(others))
        plan.left.append(f"only on the server, kept without --prune: {', '.join(names)}")
    unfinished = [one for one in (*wanted.subjects(), *kept) if is_unfinished(one, held)]
    unnamed = held.settings.keys() - {GLOBAL, *kept} if prune else ()  # the whole registry always has settings
    for scope in sorted({*wanted.settings, *unfinished, *unnamed}):
        _plan_settings(scope, wanted.settings.get(scope, ScopeSettings()), held, plan, prune=prune)
    return plan


def is_unfinished(subject: str, held: Holdings) -> bool:
    """Return whether an earlier run left the import of a subject unfinished: its mode shows it."""
    return held.settings.get(subject, ScopeSettings()).mode == IMPORT


def in_order_of_references(holdings: Holdings) -> list[HeldSchema]:
    """Return the schemas ordered so that each follows those it refers to and earlier versions of its subject."""
    before: dict[Position, list[Position]] = {}
    above: Position | None = None
    for position in sorted(holdings.schemas):
        found = [one for one in referred(holdings.schemas[position]) if one in holdings.schemas]
        before[position] = [*found, *([above] if above is not None and above[0] == position[0] else [])]
        above = position
    ordered: dict[Position, HeldSchema] = {}
    for start in before:
        waiting = [start]
        while waiting:
            missing = [one for one in before[waiting[-1]] if one not in ordered and one not in waiting]
            if missing:
                waiting.append(missing[0])
            else:
                position = waiting.pop()
                ordered.setdefault(position, holdings.schemas[position])
    return list(ordered.values())


def referred(schema: HeldSchema) -> list[Position]:
    """Return the versions that a schema refers to; a name without a context is in the schema's own context."""
    context = context_of(schema.subject)
    return [(qualify(str(one.get("subject")), context), int(one.get("version", 0))) for one in schema.references]


def _plan_schema(schema: HeldSchema, held: Holdings, plan: SyncPlan, *, prune: bool) -> None:
    there = held.schemas.get(schema.position)
    if there is None:
        plan.steps.append(PlanStep(Action.REGISTER, schema.subject, schema.version, schema.id, schema))
        return
    if not schema.says_the_same(there):
        why = (
            f"the server has a different schema as version {schema.version} (id {there.id}), and versions never change"
        )
        plan.refusals.append(PlanRefusal(schema.subject, schema.version, why))
    elif schema.id is None:
        plan.learned.append(there)
    elif schema.id != there.id:
        why = f"the id is {schema.id} in ids.lock and {there.id} on the server"
        plan.refusals.append(PlanRefusal(schema.subject, schema.version, why))
    elif there.deleted and not schema.deleted:
        why = "it is deleted on the server and cannot be restored: set `deleted: true`, or make a new version"
        plan.refusals.append(PlanRefusal(schema.subject, schema.version, why))
    if schema.deleted and not there.deleted:
        if prune or is_unfinished(schema.subject, held):
            plan.steps.append(PlanStep(Action.DELETE, schema.subject, schema.version, there.id, there))
        else:
            plan.left.append(
                f"{schema.subject} {schema.version} is deleted in the folder: --prune deletes it on the server"
            )


def _plan_settings(scope: str, wanted: ScopeSettings, held: Holdings, plan: SyncPlan, *, prune: bool) -> None:
    there = held.settings.get(scope, ScopeSettings())
    takes = prune and scope != GLOBAL
    if wanted.config != there.config and (wanted.config is not None or takes):
        plan.steps.append(PlanStep(Action.CONFIG, scope, before=there.config, after=wanted.config, why=wanted.why))
    unfinished = there.mode == IMPORT and scope != GLOBAL
    if wanted.mode != there.mode and (wanted.mode is not None or takes or unfinished):
        plan.steps.append(PlanStep(Action.MODE, scope, before=there.mode, after=wanted.mode))
