"""Profile options: whether an audit counts what columns hold, and which report it compares that with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cdc_contracts.cli.options.topic_options import OpenValidation
    from cdc_contracts.registry.core.common.findings import Severities
    from cdc_contracts.registry.core.report.profile_baseline import ProfileBaseline
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext

    """Opens the validation context of an input."""


@dataclass(frozen=True)
class ProfileOptions:
    """Options of the profile of an audit."""

    profile: Annotated[
        bool, typer.Option("--profile", help="Report NULLs, lengths, ops and lag of each table and column.")
    ] = False
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="Compare the profile with that of a JSON report."),
    ] = None

    def open_baseline(self, severities: Severities) -> ProfileBaseline | None:
        """Return the profile to compare with; None if none is. Raises as `read_profile_baseline`."""
        if self.against is None:
            return None
        from cdc_contracts.registry.core.report.profile_baseline import read_profile_baseline

        return read_profile_baseline(self.against, severities)

    def with_profile(self, open_validation: OpenValidation, baseline: ProfileBaseline | None) -> OpenValidation:
        """Return what opens the validation context of an input, with a profile if requested.

        It raises UsageError if the baseline is of another contract.
        """
        if not self.profile and baseline is None:
            return open_validation

        def profiled(*names: Any, **options: Any) -> ValidationContext | Undetected:
            from cdc_contracts.registry.core.validate.validation_context import Undetected

            validation = open_validation(*names, **options)
            if baseline is not None:
                baseline.check(validation.declared)
            reading_options = replace(validation.reading_options, profiled=True)
            if isinstance(validation, Undetected):
                return replace(validation, reading_options=reading_options)
            return replace(validation, reading_options=reading_options, made={})

        return profiled
