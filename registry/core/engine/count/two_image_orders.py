"""Two image orders: how versions place the images of an UPDATE, if they disagree on which is the row before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.chain_evidence import Readings
from cdc_contracts.registry.core.stats.row_changes import DELETE, INSERT, LOAD, UPDATE
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import CONTROL, Verdict


@dataclass(frozen=True)
class TwoImageOrders:
    """The versions by the order in which they place the images of an UPDATE, if there are two orders.

    Mostly they are of one subject. If all versions of a subject agree, the first order may be that of versions of other
    subjects, by their `foreign_validators`. They matter only for messages that fit them.
    """

    versions: tuple[tuple[Version, ...], tuple[Version, ...]]
    foreign_validators: tuple[ReferenceValidator, ...] = ()
    inserts_are_changes: bool = True
    """Whether no INSERT can be a row of a full load."""

    def kind_of(self, op: str | None) -> int:
        """Return the kind of the row changes of an op."""
        if op == "insert":
            return INSERT if self.inserts_are_changes else LOAD
        return {"update": UPDATE, "delete": DELETE}.get(op or "", LOAD)

    @property
    def readings(self) -> Readings:
        one, other = self.versions
        return tuple(version.reference for version in one), tuple(version.reference for version in other)

    def foreign_reading(self, reading: Reading) -> Reading | None:
        """Return how a version of another subject reads a message that fits it; None if the message fits none."""
        message = reading.message
        validator = next(
            (one for one in self.foreign_validators if one.claims(message) and one.validate(message).fits), None
        )
        return None if validator is None else Reading(validator.meaning, message, reading.reading_options, reading.key)

    def readings_of(self, validated: ValidatedMessage) -> list[Reading]:
        """Return how each order reads one record; if only one fits, its reading counts for both.

        Empty if the other order is that of other subjects and the record cannot be theirs.
        """
        fits, reading = validated.verdict.fits, validated.reading
        if reading is None:
            return []
        found = [next((version for version in way if version in fits), None) for way in self.versions]
        readings = [
            None if one is None else Reading(one.meaning, reading.message, reading.reading_options, reading.key)
            for one in found
        ]
        if self.foreign_validators:
            readings[0] = self.foreign_reading(reading)
        return self.of_both(readings)

    def of_both(self, readings: Sequence[Reading | None]) -> list[Reading]:
        """Return the readings of both orders, the only one for both; none if other subjects have no reading."""
        result = [one for one in readings if one is not None]
        if self.foreign_validators and len(result) < len(readings):
            return []
        return [result[0] if one is None else one for one in readings]


def is_followed(verdict: Verdict, orders_by_subject: Mapping[str, TwoImageOrders]) -> bool:
    """Return whether records of a verdict hold rows of a subject whose key chains are followed."""
    return bool(verdict.fits) and verdict.outcome != CONTROL and verdict.fits[0].subject in orders_by_subject


@lru_cache(maxsize=256)
def image_orders_of(versions: tuple[Version, ...]) -> TwoImageOrders | None:
    """Return how the versions of a subject place the images of an UPDATE; None if they agree on it."""
    ways: dict[tuple[str, str] | None, list[Version]] = {}
    for version in versions:
        ways.setdefault(version.meaning.images.update_places, []).append(version)
    if len(ways) != 2 or None in ways:  # noqa: PLR2004
        return None
    one, other = ways.values()
    return TwoImageOrders((tuple(one), tuple(other)))


def orders_by_subject_of(validation: ValidationContext) -> dict[str, TwoImageOrders]:
    """Return, by subject, how the possible versions of records in a context disagree on before and after."""
    found = {one.subject: _image_orders_in(one) for one in _subjects(validation)}
    return {subject: orders for subject, orders in found.items() if orders is not None}


def _image_orders_in(validation: ValidationContext) -> TwoImageOrders | None:
    """Return how the versions of a context's first subject, and of subjects easily confused with it, place images."""
    own = tuple(validator.version for validator in validation.validators)
    changes = all(version.meaning.full_load == "own-op" for version in validation.validated)
    ways = {version.meaning.images.update_places for version in own}
    places = next(iter(ways))
    if len(ways) > 1 or places is None:
        orders = image_orders_of(own)
        return None if orders is None else replace(orders, inserts_are_changes=changes)
    foreign = tuple(
        validation.validator_of(version)
        for version in validation.catalogue.all_versions()
        if version.subject != validation.subject
        and version.meaning.transport == validation.transport
        and version.meaning.images.update_places == places[::-1]
    )
    return TwoImageOrders((tuple(one.version for one in foreign), own), foreign, changes) if foreign else None


def _subjects(validation: ValidationContext) -> tuple[ValidationContext, ...]:
    return (validation, *validation.other_subjects)
