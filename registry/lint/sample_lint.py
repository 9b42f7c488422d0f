"""Sample lint: each sample has the expected result, under its own contract and under those of all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.common.errors import ContractError
from cdc_contracts.registry.common.pointers import join_pointer
from cdc_contracts.registry.contract.catalogue import CANONICAL
from cdc_contracts.registry.lint.lint_rule import LintFault

if TYPE_CHECKING:
    from cdc_contracts.registry.generate.contract_samples import Sample
    from cdc_contracts.registry.lint.lint_run import LintRun
    from cdc_contracts.registry.validate.validation_context import JudgedMessage

_HOLDING: Final = ("conforming", "control")
_SHOWN: Final = 3
_LONGEST: Final = 60
_NOWHERE: Final = object()


def samples_are_paired(draft: LintRun) -> Iterator[LintFault]:
    """Every file below samples/ is a message with its expectation, or an expectation with its message."""
    for version in draft.versions:
        for file in draft.samples[version.reference].strays:
            yield LintFault(
                file, "NAME.json with NAME.change.json, or in drift/ with NAME.findings.json", "one half only"
            )


def samples_conform(draft: LintRun) -> Iterator[LintFault]:
    """Every sample conforms to its version, as a row change or as a message without a row."""
    for sample, judged in _judged(draft, drifts=False):
        expected = _expectation(sample)
        wanted = "control" if expected == [] else "conforming"
        if judged.verdict.outcome != wanted and not (expected is _NOWHERE and judged.verdict.outcome in _HOLDING):
            findings = [f"{one.rule} {one.path}".strip() for one in judged.verdict.findings[:_SHOWN]]
            yield LintFault(sample.file, wanted, ": ".join([judged.verdict.outcome, ", ".join(findings)]).rstrip(": "))


def samples_decode(draft: LintRun) -> Iterator[LintFault]:
    """Every sample decodes to exactly the changes that stand beside it."""
    from cdc_contracts.registry.generate.contract_samples import told_changes

    for sample, judged in _judged(draft, drifts=False):
        if judged.verdict.outcome in _HOLDING:
            yield from _differs(sample, told_changes(judged))


def samples_survive_avro(draft: LintRun) -> Iterator[LintFault]:
    """Every sample goes through the Avro schema and back without loss."""
    from cdc_contracts.registry.message.avro_records import AvroError, same_message

    for version in draft.versions:
        codec = draft.codecs.get(version.reference)
        for sample, message in draft.messages[version.reference] if codec else ():
            try:
                if not same_message(codec.read(codec.write(message)), message):  # type: ignore[union-attr]
                    yield LintFault(sample.file, "the same message after Avro and back", "another")
            except AvroError as error:
                yield LintFault(sample.file, "a record of the Avro schema", str(error))


def drifts_are_found(draft: LintRun) -> Iterator[LintFault]:
    """Every drift sample gives exactly the outcome and findings that stand beside it, and a stream its findings."""
    from cdc_contracts.registry.generate.contract_samples import told_findings, told_statistics

    for sample, judged in _judged(draft, drifts=True):
        yield from _differs(sample, told_findings(judged))
    for sample, tally in draft.tallies:
        yield from _differs(sample, told_statistics(tally, _expectation(sample)))


def ops_have_samples(draft: LintRun) -> Iterator[LintFault]:
    """Every op that a contract maps has a sample of its own."""
    from cdc_contracts.registry.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.message.reading import Reading

    for version in draft.versions:
        meaning = draft.meanings.get(version.reference)
        if meaning is None or version.subject == CANONICAL:
            continue
        messages = [message for _, message in draft.messages[version.reference]]
        seen = {Reading(meaning, message, ReadingOptions()).op for message in messages}
        wanted = {*meaning.ops.values(), *(flag.means for flag in meaning.envelope.op.flags)}
        missing = sorted(wanted - seen)
        if missing:
            file = version.folder.joinpath("contract.yaml")
            yield LintFault(file, "a sample of every op", "none of " + ", ".join(missing), ("ops",))


def own_samples_are_claimed(draft: LintRun) -> Iterator[LintFault]:
    """The discriminators of a subject hold for all of its own samples."""
    for version in draft.versions:
        if version.reference not in draft.meanings:
            continue
        for sample, message in draft.messages[version.reference]:
            if not draft.claims(version, message):
                yield LintFault(sample.file, f"the discriminators of {version} hold", "one does not")


def other_samples_are_refused(draft: LintRun) -> Iterator[LintFault]:
    """The discriminators of a subject refuse the samples of all others, except those named as not separable."""
    for version, other, sample in draft.claimed:
        apart = draft.meanings[version.reference].not_separable_from
        if other.subject in apart:
            continue
        if draft.is_under_lint(version):
            file = version.folder.joinpath("contract.yaml")
            observed = f"sample {sample.name} of {other} taken"
            yield LintFault(file, "the samples of other subjects refused", observed, ("discriminators",))
        else:
            yield LintFault(sample.file, f"refused by the discriminators of {version}", "taken")


def not_separable_is_mutual(draft: LintRun) -> Iterator[LintFault]:
    """`not_separable_from` names subjects that name this one too, and of whose samples some are taken."""
    taken = {(version.subject, other.subject) for version, other, _ in draft.claimed}
    for version in draft.versions:
        meaning = draft.meanings.get(version.reference)
        for index, subject in enumerate(meaning.not_separable_from if meaning else ()):
            file, parts = version.folder.joinpath("contract.yaml"), ("not_separable_from", str(index))
            if subject not in draft.catalogue.subjects() or subject == version.subject:
                yield LintFault(file, "another subject", subject, parts)
                continue
            theirs = [draft.meanings.get(other.reference) for other in draft.catalogue.versions(subject)]
            if not any(other and version.subject in other.not_separable_from for other in theirs):
                yield LintFault(file, f"{subject} names {version.subject} too", "it does not", parts)
            if not {(version.subject, subject), (subject, version.subject)} & taken:
                yield LintFault(file, f"samples that {version.subject} and {subject} both take", "none", parts)


def _judged(draft: LintRun, *, drifts: bool) -> Iterator[tuple[Sample, JudgedMessage]]:
    for entries in draft.judged.values():
        yield from ((sample, judged) for sample, judged in entries if sample.drifts is drifts)


def _expectation(sample: Sample) -> Any:
    """Return what stands beside a sample; _NOWHERE where it cannot be read, which has a rule of its own."""
    try:
        return sample.expected()
    except ContractError:
        return _NOWHERE


def _differs(sample: Sample, told: Any) -> Iterator[LintFault]:
    """Yield the first place where the result of a sample is not the one stored beside it."""
    expected = _expectation(sample)
    if expected is _NOWHERE or expected == told:
        return
    parts, wanted, found = _first_difference(expected, told, ())
    at = join_pointer(*parts) or "the whole"
    yield LintFault(sample.expectation, f"{at}: {_shown(wanted)}", _shown(found), parts)


def _first_difference(expected: Any, found: Any, parts: tuple[str, ...]) -> tuple[tuple[str, ...], Any, Any]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in [*expected, *found]:
            left, right = expected.get(name, _NOWHERE), found.get(name, _NOWHERE)
            if left is _NOWHERE or right is _NOWHERE or left != right:
                return _first_difference(left, right, (*parts, name))
    if isinstance(expected, list) and isinstance(found, list):
        for index in range(max(len(expected), len(found))):
            left = expected[index] if index < len(expected) else _NOWHERE
            right = found[index] if index < len(found) else _NOWHERE
            if left is _NOWHERE or right is _NOWHERE or left != right:
                return _first_difference(left, right, (*parts, str(index)))
    return parts, expected, found


def _shown(value: Any) -> str:
    if value is _NOWHERE:
        return "nothing"
    shown = "null" if value is None else str(value)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"
