"""Deployment: a folder, a server, and the plan that brings the server in line with the folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.registry.authoring.sync.admission import refuse_incompatible, refuse_unwritable
from cdc_contracts.registry.authoring.sync.id_locks import FILE, Lock, read_lock, subject_key, write_lock
from cdc_contracts.registry.authoring.sync.plan_execution import Application
from cdc_contracts.registry.authoring.sync.publications import CONTRACT, publish_for_topic
from cdc_contracts.registry.authoring.sync.registry_client import RegistryClient
from cdc_contracts.registry.authoring.sync.registry_contents import HeldSchema, Holdings
from cdc_contracts.registry.authoring.sync.registry_folders import read_folder
from cdc_contracts.registry.authoring.sync.registry_servers import find_by_id, find_by_ids, list_subjects, read_server
from cdc_contracts.registry.authoring.sync.subject_names import context_of
from cdc_contracts.registry.authoring.sync.sync_plans import (
    IMPORT,
    Action,
    PlanRefusal,
    PlanStep,
    SyncPlan,
    plan_changes,
)
from cdc_contracts.registry.core.common.atomic_files import check_place
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version

Bindings = Mapping[str, "Version"]
"""The contract version bound to each topic."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """The desired contents of a server, its current contents, and the plan that leads from one to the other."""

    root: Path
    wanted: Holdings
    held: Holdings
    lock: Lock
    plan: SyncPlan


def prepare(client: RegistryClient, root: Path, bindings: Bindings, *, prune: bool) -> Deployment:
    """Return what applying a folder would do, without writing anything.

    Raises ContractError if the folder is invalid, UnavailableError if the server does not answer.
    """
    wanted, lock = read_folder(root)
    there = list_subjects(client)
    bound = [f"{topic}-value" for topic in bindings]
    named = {*wanted.subjects(), *wanted.settings.keys(), *bound}
    named = {one for one in named if one and not (one.startswith(":") and one.endswith(":"))}
    held = read_server(client, None if prune else named)
    others = [one for one in there if one not in named]
    plan = plan_changes(wanted, held, prune=prune, others=others, kept=bound)
    for topic, version in bindings.items():
        _plan_topic(f"{topic}-value", version, client, Deployment(root, wanted, held, lock, plan))
    _refuse_taken_ids(client, plan)
    refuse_unwritable(plan, wanted, held)
    if not plan.refusals:
        refuse_incompatible(plan, wanted, held)
    return Deployment(root, wanted, held, lock, plan)


def only_additions(deployment: Deployment) -> Deployment:
    """Return the deployment without settings and deletions: only new schemas, and the level of new subjects."""
    new = {step.subject for step in deployment.plan.of(Action.REGISTER)}
    fresh = {one for one in new if not deployment.held.versions(one)}
    steps = [
        step
        for step in deployment.plan.steps
        if step.action is Action.REGISTER
        or (step.action is Action.CONFIG and step.subject in fresh)
        or (
            step.action is Action.MODE and step.before == IMPORT and step.after is None
        )  # left behind by an interrupted run
    ]
    return replace(deployment, plan=replace(deployment.plan, steps=steps, left=[]))


def carry_out(client: RegistryClient, deployment: Deployment) -> Iterator[PlanStep]:
    """Apply a plan without refusals and yield each completed step; new ids are recorded in `ids.lock`.

    Raises UnavailableError if the server refuses a step or becomes unreachable; steps already yielded stay applied.
    Nothing is applied if `ids.lock` cannot be written.
    """
    before = deployment.lock.text()
    if deployment.plan.steps:
        check_place(deployment.root / FILE)
    try:
        yield from Application(client, deployment.plan, deployment.held, deployment.lock).carry_out()
    finally:
        if deployment.lock.text() != before:
            write_lock(deployment.root, deployment.lock)


def _plan_topic(subject: str, version: Version, client: RegistryClient, deployment: Deployment) -> None:
    """Add the steps that make the schema of a topic's contract the latest version of its value subject."""
    publication = publish_for_topic(version)
    plan, live = deployment.plan, deployment.held.versions(subject, deleted=False)
    same = [one for one in live if one.type == publication.key.type and one.digest == publication.digest]
    own = [one for one in deployment.wanted.versions(subject, deleted=False) if one.digest == publication.digest]
    if same or own:
        plan.learned += [one for one in same if deployment.lock.id_of(one.key) is None]
        if same and same[-1] is not live[-1]:
            plan.left.append(f"{subject} {same[-1].version} is {version}, but a newer version follows it")
        return
    number = max((one.version for one in deployment.held.versions(subject)), default=0) + 1
    known = deployment.lock.id_of(subject_key(subject, number, publication.key.type))
    if known is None:
        known = deployment.lock.id_of(publication.key) or read_lock(shipped_catalogue().roots[0]).id_of(publication.key)
        if known is not None and not _is_free(client, deployment.lock, subject, known, publication.digest):
            known = None
    schema = HeldSchema(
        subject,
        0,
        publication.key.type,
        publication.text,
        known,
        metadata=publication.metadata,
        contract=publication.key,
    )
    plan.steps.append(PlanStep(Action.REGISTER, subject, number, known, schema))
    before = ((live[-1].metadata if live else None) or {}).get("properties", {}).get(CONTRACT)
    if before is not None and before != version.reference:
        plan.left.append(f"`cdc-contracts diff {before} {version}` shows how the meaning of {subject} changes")


def _is_free(client: RegistryClient, lock: Lock, subject: str, number: int, digest: str) -> bool:
    """Return whether an id is free for a schema, in the folder and on the server."""
    holder, there = lock.holder(context_of(subject), number), find_by_id(client, context_of(subject), number)
    return (holder is None or holder.digest == digest) and (there is None or there.digest == digest)


def _refuse_taken_ids(client: RegistryClient, plan: SyncPlan) -> None:
    """Add a refusal for each id to import that the server already uses for a different schema."""
    steps = [step for step in plan.of(Action.REGISTER) if step.id is not None]
    for step, there in zip(
        steps, find_by_ids(client, [(context_of(one.subject), one.id) for one in steps]), strict=True
    ):
        if there is not None and step.schema is not None and there.digest != step.schema.digest:
            why = f"the server uses id {step.id} for a different schema: {there.text[:40]}…"
            plan.refusals.append(PlanRefusal(step.subject, step.version, why))
