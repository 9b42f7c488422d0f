"""The order of test files in each process of the suite: one begins with those that need Java, the other ends so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    import pytest
    from xdist.workermanage import WorkerController

JAVA = "java"
SHARED = ("spark", "broker")
"""Fixtures that start a Java virtual machine once in each process, the slower one first."""
LONGEST = (
    "test_current_rows.py", "test_row_histories.py", "test_site_examples.py", "test_follow.py", "test_kills.py",
    "test_lakehouse.py", "test_decode_failures.py", "test_decode_engines.py", "test_sampled_options.py",
    "test_engines.py", "test_validating_commands.py", "test_replay.py", "test_exact_values.py",
)  # fmt: skip
"""Files that start Java and take long for the tests they hold: begun first, so that in the end nobody waits for one."""

SLOWEST = (
    "test_house_rules.py", "test_adding_a_version.py", "test_native_sanitized.py", "test_document_batches.py",
    "test_sparse_rows.py", "test_hostile_documents.py", "test_foreign_messages.py", "test_record_pairs.py",
    "test_differential.py", "test_message_validator.py", "test_app.py", "test_many_tables.py",
    "test_draft_folders.py", "test_ci.py", "test_record_order.py", "test_site.py", "test_lint.py",
    "test_decoded_framed_captures.py", "test_every_version.py", "test_bound_schemas.py", "test_absent_members.py",
    "test_option_evidence.py", "test_captures.py", "test_tables_with_own_columns.py", "test_native_agreement.py",
    "test_contracts_on_a_server.py", "test_one_file_rules.py", "test_native_utf8.py", "test_row_types.py",
    "test_auto.py", "test_options_of_captures.py", "test_column_writing.py", "test_key_columns.py",
    "test_patterns_of_contracts.py", "test_validation_by_range.py", "test_discriminator_drift.py",
    "test_nightly.py", "test_members_beside_columns.py", "test_detection.py", "test_message_counts.py",
    "test_joined_captures.py", "test_stream_drift.py", "test_validation_without_arrow.py", "test_versions.py",
    "test_every_column.py", "test_file_schemas.py",
)  # fmt: skip
"""Files without Java that take longest (docs/test-times.md), for the same reason."""


class TwoEnds(LoadFileScheduling):
    """The first process takes files from the front of the queue, the others take them from its back.

    Where files that start Java stand in front, one process warms up one Java virtual machine with them. The others take
    such files when all that do without are done: first those that start their own in any case.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        if node is not self.nodes[0]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


def order_files(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return tests as the queue of files is to be: Java in front, and at both ends what takes long."""
    tests = Counter(item.path for item in items)
    java = {item.path for item in items if item.get_closest_marker(JAVA)}
    shared: dict[Path, int] = {}
    for item in items:
        names = getattr(item, "fixturenames", ())
        kind = next((place for place, name in enumerate(SHARED) if name in names), len(SHARED))
        shared[item.path] = min(kind, shared.get(item.path, kind))

    def place(item: pytest.Item) -> tuple[bool, int, int, int]:
        name = item.path.name
        if item.path not in java:
            return True, SLOWEST[::-1].index(name) + 1 if name in SLOWEST else 0, 0, tests[item.path]
        first = LONGEST.index(name) if name in LONGEST else len(LONGEST)
        return False, first, shared[item.path], -tests[item.path]

    return sorted(items, key=place)
