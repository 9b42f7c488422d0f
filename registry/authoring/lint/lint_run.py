"""Lint run: the documents and samples under lint, and the results of validating the samples. Nothing here raises."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from cdc_contracts.registry.authoring.lint.lint_input import WRONG, LintInput
from cdc_contracts.registry.authoring.lint.lint_targets import Target
from cdc_contracts.registry.authoring.sync.id_locks import Key
from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Version
from cdc_contracts.registry.core.contract.discriminators import all_hold
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.contract_samples import Sample, Samples, find_samples
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.reference_tally import account
from cdc_contracts.registry.core.stats.run_findings import finalize
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.unlisted_tables import name_nearest
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext


class LintRun(LintInput):
    """Contracts under lint, among all contracts they may refer to."""

    @cached_property
    def digests(self) -> dict[Target, dict[Key, str]]:
        """The digests of the schemas that each target publishes, as far as rules have asked for them."""
        return {}

    @cached_property
    def samples(self) -> dict[str, Samples]:
        return {version.reference: find_samples(version) for version in self.everything}

    @cached_property
    def messages(self) -> dict[str, list[tuple[Sample, dict[str, Any]]]]:
        """The samples of each version that conform by their place, parsed; an unreadable one is left out."""
        return {version.reference: list(self._opened(version)) for version in self.everything}

    @cached_property
    def inconsistent(self) -> list[str]:
        """The references of the inconsistent contracts."""
        return [version.reference for version in self.catalogue.all_versions() if not self._is_sound(version)]

    @cached_property
    def validated(self) -> dict[str, list[tuple[Sample, ValidatedMessage]]]:
        """The results of validating the samples under lint; nothing as long as some contract is inconsistent."""
        if self.inconsistent:
            return {}
        plain, shared = ReadingOptions(), dict[Version, ReferenceValidator]()
        found = {}
        for version in self.versions:
            if version.subject == CANONICAL:
                continue
            reading_options, validators = plain, shared
            if self.samples[version.reference].table_files:
                try:
                    reading_options, validators = self.samples[version.reference].reading_options(), {}
                except WRONG:
                    continue
            validation = ValidationContext(
                self.catalogue, (version,), reading_options, version.reference, made=validators
            )
            found[version.reference] = list(self._validated_messages(version, validation))
        return found

    @cached_property
    def tallies(self) -> list[tuple[Sample, Tally]]:
        """The sample streams under lint, each with the tally of auditing it under its own version."""
        found = []
        for version in () if self.inconsistent else self.versions:
            streams = self.samples[version.reference].streams
            try:
                reading_options = self.samples[version.reference].reading_options() if streams else ReadingOptions()
            except WRONG:
                continue
            validation = ValidationContext(self.catalogue, (version,), reading_options, version.reference)
            found += [(sample, _tally_of(validation, sample)) for sample in streams]
        return found

    @cached_property
    def claimed(self) -> list[tuple[Version, Version, Sample]]:
        """The first sample of each version that the discriminators of a version of another subject take.

        Version, other version and its sample; pairs of which neither is under lint are left out.
        """
        everyone = list(self.catalogue.all_versions())
        found = []
        for version in everyone:
            if version.reference not in self.meanings:
                continue
            tests = self.meanings[version.reference].discriminators
            for other in everyone:
                if other.subject == version.subject or not (self.is_under_lint(version) or self.is_under_lint(other)):
                    continue
                taken = (sample for sample, message in self.messages[other.reference] if all_hold(tests, message))
                found += [(version, other, sample) for sample in islice(taken, 1)]
        return found

    def claims(self, version: Version, message: dict[str, Any]) -> bool:
        """Return whether the discriminators of a version match a message."""
        meaning = self.meanings.get(version.reference)
        return meaning is not None and all_hold(meaning.discriminators, message)

    def _opened(self, version: Version) -> Iterator[tuple[Sample, dict[str, Any]]]:
        if version.reference not in self.meanings:
            return
        wire = open_transport(version, ReadingOptions())
        for sample in self.samples[version.reference].messages:
            try:
                yield sample, wire.open(sample.value)
            except (Unreadable, CdcContractsError):
                continue

    def _validated_messages(
        self, version: Version, validation: ValidationContext
    ) -> Iterator[tuple[Sample, ValidatedMessage]]:
        is_json = version.meaning.transport == "json"  # what an Avro record holds depends on the options
        parsed = {sample.file.name: message for sample, message in self.messages[version.reference] if is_json}
        for sample in self.samples[version.reference]:
            if sample.drifts or sample.file.name not in parsed:
                yield sample, validation.validate(sample.value)
            else:
                yield sample, validation.validate_message(parsed[sample.file.name], sample.value)

    def _is_sound(self, version: Version) -> bool:
        meaning = self.meanings.get(version.reference)
        if meaning is None or version.reference not in self.valid_schemas:
            return False
        return all(name in self.mappings for name in version.mapping_names())


def _tally_of(validation: ValidationContext, sample: Sample) -> Tally:
    values = sample.value.split(b"\n")
    lines = [(number, value) for number, value in enumerate(values) if value.strip()]
    tally = account(validation, Source(sample.file.name, 0), lines)
    finalize(tally, validation.catalogue)
    name_nearest(tally, validation.reading_options.tables.names())
    return tally
