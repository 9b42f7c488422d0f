"""Plan execution: applies the steps of a plan to a server.

An interrupted run leaves only complete versions behind. A subject whose import was not finished stays in IMPORT mode,
in which no other client writes to it, and the next run continues from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdc_contracts.registry.authoring.sync.id_locks import Entry, Lock, subject_key
from cdc_contracts.registry.authoring.sync.registry_client import (
    DELETED_BEFORE,
    NO_CONFIG,
    NO_MODE,
    NO_SUBJECT,
    NO_VERSION,
    RefusedError,
    RegistryClient,
)
from cdc_contracts.registry.authoring.sync.registry_contents import GLOBAL, HeldSchema, Holdings, ScopeSettings
from cdc_contracts.registry.authoring.sync.sync_plans import IMPORT, READ_ONLY, Action, PlanStep, SyncPlan, referred
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.schema.schema_documents import AVRO


class Application:
    """One run of a plan without refusals. Ids that the server assigns are recorded in `lock`."""

    def __init__(self, client: RegistryClient, plan: SyncPlan, held: Holdings, lock: Lock) -> None:
        self._client = client
        self._plan = plan
        self._held = held
        self._lock = lock
        self._importing: set[str] = set()
        self._in_mode: set[str] = set()
        """Subjects known to be in IMPORT mode while being imported: a server may drop it with the last version."""
        self._late: set[str] = set()
        """Subjects with a version that was deleted as soon as it was registered."""

    def carry_out(self) -> Iterator[PlanStep]:
        """Apply the steps and yield each completed one, with the resulting version and id.

        Raises UnavailableError if the server refuses one or cannot be reached; steps already yielded stay applied.
        """
        for schema in self._plan.learned:
            self._learn(schema)
        opened = [step for step in self._plan.of(Action.MODE) if step.before in READ_ONLY]
        for step in opened:
            yield self._set_mode(step)
        configs = self._plan.of(Action.CONFIG)
        for step in configs:
            yield self._set_config(step)
        yield from self._register()
        touched = set()
        for step in self._plan.of(Action.DELETE):
            touched.add(step.subject)
            yield self._delete(step)
        for step in configs:
            if step.subject in touched | self._late and step.after is not None:
                self._set_config(step)  # the mode went with the last version of the subject
        for step in self._plan.of(Action.MODE):
            if step not in opened:
                yield self._set_mode(step)

    def _register(self) -> Iterator[PlanStep]:
        """Register new versions; those marked deleted are deleted at once unless something still refers to them."""
        steps = self._plan.of(Action.REGISTER)
        left = {step.subject: sum(one.subject == step.subject for one in steps) for step in steps}
        needed = [position for step in steps if step.schema is not None for position in referred(step.schema)]
        waiting = []
        for step in steps:
            done = self._register_one(step)
            left[step.subject] -= 1
            if step.schema is not None and step.schema.deleted:
                self._late.add(step.subject)
                if step.schema.position in needed:
                    waiting.append(done)
                else:
                    self._delete(done)
            if not left[step.subject] and not any(one.subject == step.subject for one in waiting):
                self._end_import(step.subject)
            yield done
        for done in reversed(waiting):
            self._delete(done)
            self._end_import(done.subject)

    def _register_one(self, step: PlanStep) -> PlanStep:
        schema = step.schema
        assert schema is not None  # noqa: S101  of this action
        body = _body(schema)
        if step.id is not None:
            self._begin_import(step)
            body |= {"id": step.id, "version": step.version}
        answer = self._client.send("POST", "subjects", step.subject, "versions", body=body)
        number = int(answer["id"])
        if step.id is not None and number != step.id:
            raise UnavailableError(
                f"the server assigned id {number} to {step.subject} {step.version} instead of {step.id}",
                where=self._client.url,
            )
        version = int(answer.get("version") or 0)
        if not version:  # not every server returns it; an import keeps the version it was sent with
            version = step.version if step.id is not None and step.version else self._find_version(step.subject, body)
        if schema.version and version != step.version:
            raise UnavailableError(
                f"the server registered {step.subject} {step.version} as version {version}",
                where=self._client.url,
                hint=f"Rename the file to v{version}, or add a line for it to ids.lock, so that its version is kept.",
            )
        key = schema.key if schema.version else subject_key(step.subject, version, schema.type)
        self._lock.add(Entry(number, key, schema.digest))
        return PlanStep(step.action, step.subject, version, number, schema)

    def _find_version(self, subject: str, body: dict[str, Any]) -> int:
        """Ask the server for the version just registered."""
        asked = {key: value for key, value in body.items() if key not in ("id", "version")}
        return int(self._client.send("POST", "subjects", subject, body=asked)["version"])

    def _begin_import(self, step: PlanStep) -> None:
        if step.subject in self._in_mode:
            return
        try:
            self._client.send("PUT", "mode", step.subject, body={"mode": IMPORT}, force=True)
        except RefusedError as error:
            hint = (
                "This server cannot import and assigns ids itself: remove the id from ids.lock and use `registry push`."
            )
            raise RefusedError(error.what, code=error.code, where=error.where, hint=hint) from error
        self._importing.add(step.subject)
        self._in_mode.add(step.subject)

    def _end_import(self, subject: str) -> None:
        """Restore the mode a subject had before; a mode set by the folder is applied later with the other modes."""
        if subject not in self._importing:
            return
        self._importing.remove(subject)
        before = self._held.settings.get(subject, ScopeSettings()).mode
        if before is None or before == IMPORT:
            self._client.send("DELETE", "mode", subject, missing=(NO_SUBJECT, NO_MODE))
        else:
            self._client.send("PUT", "mode", subject, body={"mode": before}, force=True)

    def _delete(self, step: PlanStep) -> PlanStep:
        missing = (*DELETED_BEFORE, NO_SUBJECT, NO_VERSION)
        self._client.send("DELETE", "subjects", step.subject, "versions", str(step.version), missing=missing)
        self._in_mode.discard(step.subject)
        return step

    def _set_config(self, step: PlanStep) -> PlanStep:
        path = ("config", step.subject) if step.subject != GLOBAL else ("config",)
        if step.after is None or set(step.before or ()) - set(step.after):
            self._client.send("DELETE", *path, missing=(NO_SUBJECT, NO_CONFIG))
        if step.after is not None:
            self._client.send("PUT", *path, body=dict(step.after))
        return step

    def _set_mode(self, step: PlanStep) -> PlanStep:
        path = ("mode", step.subject) if step.subject != GLOBAL else ("mode",)
        if step.after is None:
            self._client.send("DELETE", *path, missing=(NO_SUBJECT, NO_MODE))
        else:
            self._client.send("PUT", *path, body={"mode": step.after}, force=True)
        return step

    def _learn(self, schema: HeldSchema) -> None:
        if schema.id is not None:
            self._lock.add(Entry(schema.id, schema.key, schema.digest))


def _body(schema: HeldSchema) -> dict[str, Any]:
    body: dict[str, Any] = {"schema": schema.text}
    if schema.type != AVRO:
        body["schemaType"] = schema.type
    if schema.references:
        body["references"] = [dict(one) for one in schema.references]
    if schema.metadata:
        body["metadata"] = schema.metadata
    if schema.rule_set:
        body["ruleSet"] = schema.rule_set
    return body
