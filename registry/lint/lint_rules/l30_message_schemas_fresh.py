"""Lint rule L30: message-schemas-fresh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cdc_contracts.registry.common.errors import CdcContractsError
from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.lint.lint_rule import LintFault, LintRule

if TYPE_CHECKING:
    from cdc_contracts.registry.lint.lint_run import LintRun


def message_schemas_are_fresh(draft: LintRun) -> Iterator[LintFault]:
    """The message schemas in a version's folder are those that are written from its contract."""
    from cdc_contracts.registry.schema.message_schemas.schema_files import stale_files

    for version in draft.versions:
        try:
            stale = stale_files(version, missing=False)
        except (CdcContractsError, TypeError, ValueError, AttributeError, KeyError):
            continue  # what is wrong with its documents is reported by other rules
        for name in stale:
            hint = "what `cdc-contracts schema --write` writes from the contract"
            yield LintFault(version.folder.joinpath(name), hint, "another text")


RULE = LintRule(
    id="L30",
    name="message-schemas-fresh",
    severity=ERROR,
    says="Checks that message.schema.json and message.avsc beside a contract are what is written from it.",
    why="They are what other people take away: one that was not written again tells them what is no longer so. "
    "`cdc-contracts schema --write FOLDER` writes them.",
    good="files as `cdc-contracts schema --write` leaves them",
    bad="a contract that changed, and the files of before",
    check=message_schemas_are_fresh,
    ignorable=False,
)
