"""Message explanations: what one message is, by which contract, what it breaks and why, and what else it may be.

The command prints these plain values; `--json` writes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, structs

from cdc_contracts.registry.authoring.explain.annotated_messages import AnnotatedMessage, take_apart
from cdc_contracts.registry.authoring.explain.finding_explanations import Remark, explain_findings
from cdc_contracts.registry.core.common.exit_codes import DRIFT, INCONCLUSIVE, PASS
from cdc_contracts.registry.core.common.findings import CLASSES, INFO, Finding, rule_id
from cdc_contracts.registry.core.common.json_messages import EXPECTED, Unreadable, parse_message
from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.relatives import Relative, read_relatives
from cdc_contracts.registry.core.message.transport import JsonTransport
from cdc_contracts.registry.core.message.unreadable_bytes import ParseFault, find_fault
from cdc_contracts.registry.core.message.wrapping_guesses import guess_wrapping
from cdc_contracts.registry.core.records.record_origins import FoundPlace
from cdc_contracts.registry.core.validate.candidates import (
    Candidate,
    find_nearest,
    is_near,
    open_validations,
    read_alike,
    weigh,
)
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import (
    AMBIGUOUS,
    OTHER_DIALECT,
    TOMBSTONE,
    UNREADABLE,
    Verdict,
    foreign,
    show_members,
    unreadable,
)
from cdc_contracts.registry.core.writer_schemas.schema_headers import Header, frame_or_none, put_frames
from cdc_contracts.registry.core.writer_schemas.writer_schemas import EXPECTED_FRAMED

EXPLANATION_VERSION: Final = 1
_GIVE_SCHEMAS: Final = "Give --schema-registry URL, or the folder of `registry dump`: its schema says what it is."


@dataclass(frozen=True, slots=True)
class Other:
    """Another version of the catalogue: whether the message fits it, and if not, the first reason.

    If it fits, `alike` is whether it reads the same from the message; None if there is nothing to compare. `members` is
    the share of its required members that are present, `marks` its discriminators that do not hold.
    """

    contract: str
    fits: bool
    alike: bool | None
    members: float
    marks: tuple[str, ...]
    errors: int
    why_not: str | None


class MessageExplanation(Struct, frozen=True, kw_only=True):
    """The explanation of one value, as written by `why --json`.

    `verdict` determines the exit code, and `place` is not known before it is written. `contract` is what it was
    validated under, None if none is similar; `choice` says why that one. If `wrapping` names a wrapping, `inside` are
    the contracts that the unwrapped message fits.
    """

    why_version: int = EXPLANATION_VERSION
    place: Sometimes[FoundPlace] = UNSET
    verdict: str = PASS
    outcome: str
    declared: str | None
    contract: str | None = None
    choice: str
    bytes: int = 0
    sha256: str | None = None
    anatomy: AnnotatedMessage | None = None
    findings: tuple[Remark, ...] = ()
    others: tuple[Other, ...] = ()
    fault: ParseFault | None = None
    wrapping: str | None = None
    inside: tuple[str, ...] = ()
    values_shown: bool


def write_explanation(explanation: MessageExplanation, place: FoundPlace) -> dict[str, Any]:
    """Return an explanation of the message at a place as a JSON document."""
    document: dict[str, Any] = msgspec.to_builtins(structs.replace(explanation, place=place))
    return document


def explain_message(
    value: bytes | None,
    catalogue: Catalogue,
    reading_options: ReadingOptions,
    *,
    key: bytes | None = None,
    validation: ValidationContext | None = None,
    choice: str = "declared",
    show_values: bool = False,
    headers: Sequence[Header] = (),
) -> MessageExplanation:
    """Explain one value, in the declared validation context or else by the most similar contract.

    `key` and `headers` are those of its Kafka record, `choice` says why this context was chosen.
    """
    declared = validation.declared if validation is not None and not validation.left_open else None
    record = value
    if reading_options.reads_headers and headers:
        try:
            value, key = put_frames(value, key, headers)
        except Unreadable as error:
            return _explain_headers(record or b"", error, declared, show_values=show_values)
    sent, value = value, value if validation is None else validation.message_of(value, key)
    if value is not sent:
        choice = f"{choice}; its null value is the deletion of the row that the key names"
    if value is None:
        tombstone = "a null value is a tombstone under every contract"
        return MessageExplanation(outcome=TOMBSTONE, declared=declared, choice=tombstone, values_shown=show_values)
    validations = open_validations(catalogue, reading_options)
    candidates = weigh(value, validations, key)
    if validation is not None:
        validated = validation.validate(value, key)
    else:
        validation, validated, choice = _choose(value, key, validations, candidates, reading_options)
    verdict = validated.verdict
    version = verdict.version or (validation.validated[-1] if validation is not None else None)
    if validation is not None and version is not None and version.subject != validation.subject:
        choice = f"its messages without rows stand among those of {validation.subject}"
        hosted = (*validation.control_subjects, *validation.other_subjects)
        validation = next((one for one in hosted if one.subject == version.subject), validation)
    message, fault = _open(value, key, validation, reading_options, show_values=show_values)
    if verdict.outcome != UNREADABLE:
        fault = None
    elif fault is not None and not reading_options.reads_headers and frame_or_none(headers):
        fault = structs.replace(fault, guess="a record whose schema a header names", action=_GIVE_SCHEMAS)
    foreign = message if verdict.outcome == OTHER_DIALECT else None
    wrapping = guess_wrapping(foreign, lambda value: is_near(value, validations)) if foreign is not None else None
    inside = (fault.inside or None) if fault is not None else wrapping.inside if wrapping is not None else None
    validator = (
        next((one for one in validation.validators if one.version is version), None) if validation is not None else None
    )
    anatomy = (
        take_apart(validator, message, validated.table, show_values=show_values)
        if validator is not None and message is not None
        else None
    )
    findings = explain_findings(verdict.findings, version, anatomy, fits=verdict.fits)
    return MessageExplanation(
        verdict=_verdict_of(verdict.outcome, findings),
        outcome=verdict.outcome,
        declared=declared,
        contract=version.reference if version is not None else None,
        choice=choice,
        **_digest(value if record is None or value is not sent else record),
        anatomy=anatomy,
        findings=findings,
        others=tuple(_others(candidates, verdict)),
        fault=structs.replace(fault, inside=UNSET) if fault is not None else None,
        wrapping=wrapping.with_action if wrapping is not None else None,
        inside=tuple(one.version.reference for one in weigh(inside, validations) if one.fits)
        if inside is not None
        else (),
        values_shown=show_values,
    )


def _digest(value: bytes) -> dict[str, Any]:
    return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}


def _explain_headers(value: bytes, error: Unreadable, declared: str | None, *, show_values: bool) -> MessageExplanation:
    """Return the explanation of a value whose headers do not say by which schema it is read."""
    verdict = unreadable(error.cause, EXPECTED_FRAMED, error.observed)
    return MessageExplanation(
        verdict=DRIFT, outcome=verdict.outcome, declared=declared, contract=None,
        choice="no contract reads it without its schema", **_digest(value),
        findings=explain_findings(verdict.findings, None, None, fits=()), values_shown=show_values,
    )  # fmt: skip


def _verdict_of(outcome: str, findings: Sequence[Remark]) -> str:
    """Return the verdict behind the exit code: an ambiguous message is undecided, a note changes nothing."""
    if outcome == AMBIGUOUS:
        return INCONCLUSIVE
    return DRIFT if any(one.severity != INFO for one in findings) else PASS


def explanation_schema() -> dict[str, Any]:
    """Return the JSON Schema of `why --json`."""
    text = (
        files("cdc_contracts.registry.authoring.explain")
        .joinpath("message_explanation.schema.json")
        .read_text(encoding="utf-8")
    )
    schema: dict[str, Any] = json.loads(text)
    return schema


def _choose(
    value: bytes,
    key: bytes | None,
    validations: Sequence[ValidationContext],
    candidates: Sequence[Candidate],
    reading_options: ReadingOptions,
) -> tuple[ValidationContext | None, ValidatedMessage, str]:
    """Return the validation context of the most similar subject, the outcome under it, and why it was chosen."""
    relatives = _relatives(value, validations[0])
    other_format = _explain_other_format(value, validations, candidates, relatives)
    if other_format is not None:
        return other_format
    own, outside = _without_near(candidates, relatives, validations[0])
    is_shown, candidates = len(own) < len(candidates), own
    fitting = [one for one in candidates if one.fits]
    asked = fitting or [one for one in candidates if one.on_request]
    near = asked[0] if asked else find_nearest(candidates)
    if near is None:
        return None, ValidatedMessage(_without_contract(value, reading_options)), "no contract comes close"
    validation = next(validation for validation in validations if validation.subject == near.version.subject)
    validated = validation.validate(value, key)
    if fitting and read_alike(fitting) and not any(one.reads == "other" for one in outside):
        why = "the first that fits; all that fit read it the same way" if fitting[1:] else "the only one that fits"
        return validation, validated, "the only one whose product writes such messages" if is_shown else why
    if asked:
        why = "the message fits several contracts" if fitting[1:] else "any product may write such a message"
        why = f"{outside[0].name} may have written it as well" if fitting and outside else why
        return validation, replace(validated, verdict=_undecided(validation, validated.verdict, asked)), why
    if near.marked:
        return validation, validated, "the closest match among those whose discriminators hold"
    verdict = foreign(f"the discriminators of {near.version}", near.version, f"does not hold: {'; '.join(near.marks)}")
    findings = near.version_verdict.findings if near.version_verdict is not None else ()
    verdict = replace(verdict, findings=(*verdict.findings, *findings))
    return validation, replace(validated, verdict=verdict), _describe_nearness(near, candidates)


def _relatives(value: bytes, validation: ValidationContext) -> list[tuple[Relative, bool]]:
    """Return the related formats outside the catalogue that may have written a message, and whether it proves that."""
    try:
        message = parse_message(value, max_bytes=validation.reading_options.max_bytes)
    except Unreadable:
        return []
    found = [relative for relative in read_relatives(validation.catalogue) if relative.may_be(message)]
    return [(relative, relative.marked(message)) for relative in found]


def _without_near(
    candidates: Sequence[Candidate], relatives: Sequence[tuple[Relative, bool]], validation: ValidationContext
) -> tuple[list[Candidate], list[Relative]]:
    """Return the contracts that a message may be of, and the relatives outside the catalogue that it may be of.

    Where a message has what only one product writes, and a contract describes that product, it is of none near it.
    """
    left, outside = list(candidates), list[Relative]()
    for relative, marked in relatives:
        described = relative.described_by(one.version for one in candidates if one.fits)
        if not described and relative.is_outside(validation.catalogue):
            outside.append(relative)
        elif marked:
            left = [one for one in left if one.version.subject not in relative.near]
    return left, outside


def _explain_other_format(
    value: bytes,
    validations: Sequence[ValidationContext],
    candidates: Sequence[Candidate],
    relatives: Sequence[tuple[Relative, bool]],
) -> tuple[ValidationContext, ValidatedMessage, str] | None:
    """Return the explanation of a message that shows a relative; None if some other contract accepts it."""
    for relative, marked in relatives:
        is_outside = relative.is_outside(validations[0].catalogue)
        if marked and is_outside and not relative.described_by(one.version for one in candidates if one.fits):
            validation = next(validation for validation in validations if validation.subject == relative.near[0])
            verdict = foreign("a contract of the catalogue", validation.validated[-1], f"what {relative.name} writes")
            why = f"the closest match; {relative.name} is not in the catalogue"
            why += f". {relative.advice}" if relative.advice else ""
            return validation, replace(validation.validate(value), verdict=verdict), why
    return None


def _describe_nearness(near: Candidate, candidates: Sequence[Candidate]) -> str:
    """Return in words how similar the best candidate is, and which others are equally similar."""
    marks = f"{len(near.marks)} of its discriminators {'does' if len(near.marks) == 1 else 'do'} not hold"
    peers = [
        one.version.reference
        for one in candidates
        if one is not near and one.distance == near.distance and one.members == near.members
    ]
    return f"the closest match, but {marks}" + (f"; equally close: {', '.join(peers)}" if peers else "")


def _undecided(validation: ValidationContext, verdict: Verdict, asked: Sequence[Candidate]) -> Verdict:
    """Return the verdict of a message that several contracts accept, or whose contract has to be declared."""
    versions = tuple(one.version for one in asked)
    at = validation.validators[0].meaning.envelope.op.at
    named = ", ".join(version.reference for version in versions)
    if not any(one.fits for one in asked):
        named += ", or any other product that writes plain rows"
    one = Finding(rule_id("ambiguous"), "ambiguous", CLASSES["ambiguous"].severity, at, "one reading", named)
    return Verdict(AMBIGUOUS, verdict.version or versions[0], (one,), versions, differs=True)


def _without_contract(value: bytes, reading_options: ReadingOptions) -> Verdict:
    """Return the verdict of a value without a similar contract: not a message, or one of another format."""
    try:
        message = parse_message(value, max_bytes=reading_options.max_bytes, strict=reading_options.strict_json)
    except Unreadable as error:
        return unreadable(error.cause, EXPECTED, error.observed)
    return foreign("a message of some contract", None, show_members(list(message)))


def _open(
    value: bytes,
    key: bytes | None,
    validation: ValidationContext | None,
    reading_options: ReadingOptions,
    *,
    show_values: bool,
) -> tuple[dict[str, Any] | None, ParseFault | None]:
    """Return the message of a value, or where parsing it fails."""
    wire = validation.wire if validation is not None else JsonTransport(reading_options)
    try:
        return wire.open(value, key), None
    except Unreadable as error:
        return None, find_fault(value, error, show_values=show_values)


def _others(candidates: Sequence[Candidate], verdict: Verdict) -> list[Other]:
    """Return the other versions: first those that fit, then by decreasing similarity."""
    validated = next((one for one in candidates if one.version is verdict.version), None)
    result = []
    for one in candidates:
        if one is not validated:
            fits = one.fits or one.version in verdict.fits
            alike = read_alike([validated, one]) if fits and validated is not None and validated.conforms else None
            why = None if fits else one.why_not
            far = (not fits, one.message is None, one.members == 0, one.distance)
            result.append(
                (far, Other(one.version.reference, fits, alike, one.members, one.marks, len(one.errors), why))
            )
    return [other for _, other in sorted(result, key=lambda entry: entry[0])]
