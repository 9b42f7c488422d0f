"""Version options: `--versions` and `--write-versions`, for contract versions by range of a topic."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.validation_options import AUTO, ValidationOptions, needs_a_table
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.cli.options.run_options import RunOptions
    from cdc_contracts.registry.core.contract.catalogue import Catalogue
    from cdc_contracts.registry.core.report.report_model import Report
    from cdc_contracts.registry.core.stats.partition_tallies import Source
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext

NewVersions = Annotated[
    Path | None,
    typer.Option("--write-versions", metavar="FILE", help="Write which version applies where, as far as proven."),
]


@dataclass(frozen=True)
class RangedValidationOptions(ValidationOptions):
    """Options of how messages are validated, each range of a topic against its declared version."""

    versions: Annotated[
        Path | None, typer.Option("--versions", metavar="FILE", help="Which version applies to which offsets or times.")
    ] = None

    def ranged_topics(self, topics: Sequence[str]) -> list[str]:
        """Return the topics validated by a versions file: all if the option is given, else those in the settings'."""
        if self.versions is not None:
            return list(topics)
        file = _file_of_settings() if self.contract is None else None
        named = _topics_in(file) if file is not None else ()
        return [topic for topic in topics if topic in named]

    def _open(
        self, topics: Sequence[str], reading: RunOptions | None, *, show_values: bool
    ) -> ValidationContext | Undetected:
        if self.versions is not None and self.contract is not None:
            raise UsageError(
                "--contract and --versions cannot be combined",
                hint="Leave out --contract: the file says which version applies where.",
            )
        if self.versions is None and not self.ranged_topics(topics):
            return super()._open(topics, reading, show_values=show_values)
        return self._open_ranges(topics, reading, show_values=show_values)

    def _open_ranges(
        self, topics: Sequence[str], reading: RunOptions | None, *, show_values: bool
    ) -> ValidationContext:
        from cdc_contracts.registry.core.contract.version_files import read_versions
        from cdc_contracts.registry.core.validate.described_contexts import open_ranges

        catalogue, reading_options, _ = replace(self, contract=AUTO).open_reading_options(
            topics, reading, show_values=show_values
        )
        ranges = read_versions(self.versions or _file_of_settings() or Path(), catalogue)
        if topics:
            ranges = ranges.of_named(topics)
        if (
            reading_options.table is None
            and len(topics) == 1
            and any(needs_a_table(catalogue, one) for one in ranges.contracts)
        ):
            reading_options = replace(reading_options, table=topics[0])
        return open_ranges(catalogue, ranges, reading_options)


def fit_validation(
    validation: ValidationContext | Undetected, sources: Collection[Source], *, some: bool = False
) -> ValidationContext | Undetected:
    """Return the validation context of an input; `some` means that not all partitions of its topics are read.

    Raises UsageError if a versions file does not mention a topic, or names a partition that does not exist.
    """
    from cdc_contracts.registry.core.validate.described_contexts import open_ranges
    from cdc_contracts.registry.core.validate.validation_context import ValidationContext

    if not isinstance(validation, ValidationContext) or validation.ranges is None:
        return validation
    ranges = validation.ranges.of_named([source.topic for source in sources])
    if not some:
        ranges.check_partitions(sources)
    return open_ranges(validation.catalogue, ranges, validation.reading_options)


def check_new_versions(target: Path | None, kept: Sequence[Path | None]) -> None:
    """Make sure, before any work, that a versions file can be written without overwriting a file the run needs."""
    if target is not None:
        from cdc_contracts.registry.core.common.atomic_files import check_place

        check_place(target, kept=[path for path in kept if path is not None])


def write_versions(report: Report, target: Path, catalogue: Catalogue, options: Mapping[str, str]) -> None:
    """Write the versions file that a report supports; `options` of the producer were stated for the run."""
    from cdc_contracts.registry.core.common.atomic_files import write_whole
    from cdc_contracts.registry.core.report.version_proposals import propose_versions

    write_whole(target, propose_versions(report, catalogue, options))
    console.say(
        f"{target} says which version applies where, and why ranges are left open: review it, then use --versions"
    )


def _file_of_settings() -> Path | None:
    from cdc_contracts.registry.core.contract.settings import read_settings

    file = read_settings(Path.cwd()).versions
    return Path(file) if file else None


def _topics_in(file: Path) -> Collection[str]:
    """Return the topics that a file names, before contracts are loaded."""
    from cdc_contracts.registry.core.contract.version_files import topics_in

    return topics_in(file)
