"""Profile options: whether an audit counts what columns hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cdc_contracts.registry.validate.validation_context import Undetected, ValidationContext

    Judge = Callable[..., ValidationContext | Undetected]
    """Opens the validation context of an input."""


@dataclass(frozen=True)
class ProfileOptions:
    """Options of the profile of an audit."""

    profile: Annotated[
        bool, typer.Option("--profile", help="Report NULLs, lengths, ops and lag of each table and column.")
    ] = False

    def judge(self, judge: Judge) -> Judge:
        """Return what opens the validation context of an input, with a profile where one is wanted."""
        if not self.profile:
            return judge

        def profiled(*names: Any, **options: Any) -> ValidationContext | Undetected:
            from cdc_contracts.registry.validate.validation_context import Undetected

            validation = judge(*names, **options)
            reading_options = replace(validation.reading_options, profiled=True)
            if isinstance(validation, Undetected):
                return replace(validation, reading_options=reading_options)
            return replace(validation, reading_options=reading_options, made={})

        return profiled
