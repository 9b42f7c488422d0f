"""Report wording: the sentences of a report, the same on the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import UNSET

from cdc_contracts.registry.core.common.exit_codes import DRIFT, PASS
from cdc_contracts.registry.core.common.findings import INFO
from cdc_contracts.registry.core.common.safe_text import list_first, sentence, visible
from cdc_contracts.registry.core.contract.table_families import name_together
from cdc_contracts.registry.core.detect.reported_detection import EvidencePlace, ReportedDetection, ReportedEvidence
from cdc_contracts.registry.core.report.contradicted_runs import describe_contradicted
from cdc_contracts.registry.core.report.open_notes import fraction_notes, option_notes, vote_notes
from cdc_contracts.registry.core.report.report_model import (
    Ledger,
    PartitionLedger,
    Report,
    UnprovenVersion,
    VersionSwitch,
)
from cdc_contracts.registry.core.report.reported_findings import ExampleMessage, ReportedMoment
from cdc_contracts.registry.core.report.reported_kinds import kind_notes
from cdc_contracts.registry.core.report.reported_null_values import null_value_notes
from cdc_contracts.registry.core.report.reported_slices import slice_notes
from cdc_contracts.registry.core.validate.verdicts import LEFT_OPEN

COUNTS: Final = ("read", "conforming", "control", "tombstone", "quarantined", "contradicted", "excluded")
_RARE: Final = ("contradicted", "excluded")
_DETECTED: Final = {
    "certain": "certain",
    "likely": "likely, not proven",
    "ambiguous": "cannot be determined",
    "not-in-catalogue": "not in the catalogue",
    "mixed": "several contracts in one topic",
}
PROFILE: Final = "profile-change"
_MOST_PLACES: Final = 4
_MOST_NAMES: Final = 8


def headline(report: Report) -> str:
    """Return the sentence behind the verdict."""
    ledger, contracts = report.ledger, _contracts_of(report)
    validated, valued = ledger.validated, ledger.valued
    if not validated:
        return "there was nothing to validate" if ledger.read else _unread(report)
    if not valued:
        return "only records without a value were read"
    unclear = _unclear(report)
    wrong = ledger.quarantined - sum(count for count, _ in unclear)
    wrong = max(wrong, _of_other_versions(report)) if ledger.contradicted is UNSET else wrong + ledger.contradicted
    if wrong > 0:
        result = f"{wrong:,} of {valued:,} messages do not conform to {contracts}"
        result += "".join(f", {count:,} {why}" for count, why in unclear)
    elif unclear:
        (count, why), *more = unclear
        result = f"{count:,} of {valued:,} messages {why}" + "".join(f", {count:,} {why}" for count, why in more)
    elif report.verdict == PASS or all(one.severity == INFO or one.name == PROFILE for one in report.findings):
        read = " read so far" if report.stopped else ""
        messages = f"all {validated:,} messages{read} conform" if validated > 1 else f"the one message{read} conforms"
        changed = report.verdict == DRIFT and any(one.name == PROFILE for one in report.findings)
        result = f"{messages} to {contracts}" + (", but their profile has changed" if changed else "")
    else:
        noted = sum(one.severity == INFO for one in report.findings)
        notes_too = f" and {count_of(noted, 'note')}" if noted else ""
        found = count_of(len(report.findings) - noted, "finding") + notes_too
        result = f"{found} in {valued:,} messages that should conform to {contracts}"
    result += _unproven_part(report)
    if report.verdict != PASS:
        return result
    if known(report):
        return f"{result}, none of it new"
    return f"{result}, which --fail-on {','.join(report.fail_on or ())} allows" if wrong > 0 else result


def _of_other_versions(report: Report) -> int:
    """Return how many messages are proven to be of another version; earlier releases did not count them apart."""
    return sum(finding.count for finding in report.findings if finding.rule == "D03.images")


def _unproven_part(report: Report) -> str:
    """Return the part that names the declared versions that no message could confirm."""
    groups: dict[tuple[str, ...], list[UnprovenVersion]] = {}
    for one in report.unproven or ():
        groups.setdefault((one.contract, *one.others), []).append(one)
    result = [
        f"no message {_ranges_of(places)}distinguishes {visible(contract)} from {' or '.join(map(visible, others))}"
        for (contract, *others), places in groups.items()
    ]
    return f", but {', and '.join(result)}" if result else ""


def _ranges_of(places: Sequence[UnprovenVersion]) -> str:
    """Return the ranges of a versions file that a statement is about, nothing if it is about all."""
    first = places[0]
    if first.topic is UNSET:
        return ""
    ends = [f"{word} {at}" for word, at in (("from", first.start), ("up to", first.end)) if at not in (None, UNSET)]
    more = f" or in {count_of(len(places) - 1, 'other range')}" if len(places) > 1 else ""
    within = f" {' '.join(ends)}" if ends else ""
    return f"of {visible(first.topic)} partition {first.partition}{within}{more} "


def was_empty(report: Report) -> bool:
    """Return whether the range held no record: not if messages were not validated, or the run ended early."""
    detected = [report.detection, *(report.source.detections or {}).values()]
    return not (report.ledger.read or report.stopped or any(one and one.messages for one in detected))


def _unread(report: Report) -> str:
    """Return why nothing was read: messages whose contract cannot be detected are not validated."""
    found = report.detection
    if not found or not found.messages:
        return "there was nothing to read"
    if found.verdict == "not-in-catalogue":
        return "nothing was validated, because the messages are not in the catalogue"
    return "nothing was validated, because the contract of the messages cannot be determined"


def _contracts_of(report: Report) -> str:
    contracts = set((report.source.contracts or {}).values())
    found = report.detection
    mixed = report.contract == "auto" and found and found.verdict == "mixed" and not found.subject
    several = len(contracts) > 1 or mixed or report.versions
    if len(contracts) == 1 and not several:
        name = contracts.pop().removeprefix("auto: ")
        return _changing_contract(report) or (visible(name) if "/" in name else "their contracts")
    return "their contracts" if several else _changing_contract(report) or contract_name_of(report)


def _changing_contract(report: Report) -> str | None:
    """Return the contract whose version changes midway, where no version was declared; else None."""
    if "@" in report.contract:
        return None
    sides = {(one.old.rpartition("@"), one.new.rpartition("@")) for one in report.switches}
    if len(sides) != 1:
        return None
    ((subject, _, before), (other, _, after)) = sides.pop()
    return visible(f"{subject}, whose version changes from {before} to {after}") if subject == other else None


def counts_of(ledger: Ledger) -> tuple[str, ...]:
    """Return the columns of a ledger; those that are empty in most runs only where there is something to count."""
    return tuple(name for name in COUNTS if name not in _RARE or getattr(ledger, name))


def _unclear(report: Report) -> list[tuple[int, str]]:
    """Return how many messages have no decidable version, by the reason."""
    result = {"fit several versions that read them differently": 0, "are outside the ranges of any version": 0}
    for finding in report.findings:
        if finding.name == "ambiguous":
            result[list(result)[finding.rule == LEFT_OPEN]] += finding.count
    return [(count, why) for why, count in result.items() if count]


def contract_name_of(report: Report) -> str:
    """Return the contract that the messages were validated against, detected or declared."""
    found = report.detection
    if report.contract != "auto":
        return visible(report.contract)
    if not found or not found.subject:
        return "the contract detected for each" if found and found.verdict == "mixed" else "any one contract"
    return visible(f"{found.subject}@{found.version}" if found.version else found.subject)


def notes(report: Report) -> list[str]:
    """Return the limits of the verdict: what was not read, and what was left out."""
    result = []
    if report.stopped:
        result.append(f"Stopped before the end ({report.stopped}): the report covers what was read until then.")
    coverage = report.coverage
    if coverage and (coverage.sample or report.stopped):  # else what was not read are gaps, in the ledger
        sample = f", a sample of {coverage.sample}" if coverage.sample else ""
        result.append(
            f"Read {coverage.read:,} of {coverage.of:,} offsets ({share(coverage.read, coverage.of)}){sample}."
        )
        result += slice_notes(coverage.slices)
    if report.baseline and report.baseline.known:
        omitted = count_of(report.baseline.known, "finding")
        result.append(f"{omitted} omitted because {visible(report.baseline.file)} lists them.")
    new = report.findings_other.findings if report.baseline and report.findings_other else 0
    if new:
        result.append(f"Not listed: {count_of(new, 'new finding')} beyond the maximum that a report keeps.")
    elif report.findings_cut and not known(report):
        others = report.findings_other.records if report.findings_other else 0
        counted = f"; the others occurred {others:,} times" if others else ""
        result.append(f"There were more findings than the {len(report.findings):,} that are kept{counted}.")
    contradicted = describe_contradicted(report.contradicted) if report.contradicted else ()
    return [
        *result,
        *_chain_notes(report),
        *kind_notes(report.kinds or ()),
        *open_questions(report),
        *contradicted,
    ]


def open_questions(report: Report) -> Iterator[str]:
    """Yield what messages leave open about how they are read, and which parameters say it."""
    yield from option_notes(report)
    yield from fraction_notes(report)
    yield from null_value_notes(report.null_values)


def _chain_notes(report: Report) -> Iterator[str]:
    """Yield what key chains leave open."""
    for line in report.chains or ():
        name = f"{visible(line.topic)} {line.partition}"
        if line.doubtful:
            yield f"Key chains of {name} contradict each other: records are missing, so they prove nothing."
            continue
        for one in line.stretches if report.contract in line.links else ():
            if not one.proven and one.links > line.torn and one.contract != report.contract:
                yield (
                    f"{count_of(one.links, 'key chain')} of {name}, from offset {one.first_offset} to "
                    f"{one.last_offset}, for {visible(one.contract)}: too few to prove it."
                )
    yield from vote_notes(report)
    if report.chains_left_out:
        yield f"Key chains of {report.chains_left_out:,} row changes were not followed: there are too many rows."


def known(report: Report) -> int:
    """Return how many findings were left out because the baseline has them."""
    return report.baseline.known if report.baseline else 0


def detections_of(report: Report) -> Iterator[tuple[str | None, ReportedDetection]]:
    """Yield what was detected: in each of several topics, or in the whole run.

    Of topics with the same result, that of the topic with the most messages stands for all.
    """
    if report.detection:
        yield None, report.detection
    alike: dict[str, list[tuple[str, ReportedDetection]]] = {}
    for topic, found in (report.source.detections or {}).items():
        alike.setdefault(detected(found), []).append((topic, found))
    for entries in sorted(alike.values(), key=len, reverse=True):
        topic, found = max(entries, key=lambda entry: entry[1].messages)
        yield topic if len(entries) == 1 else f"{len(entries):,} topics such as {topic}", found


def contracts_of(report: Report) -> list[tuple[str, str]]:
    """Return the topics of each contract, in few words, if there are several topics."""
    by_contract: dict[str, list[str]] = {}
    for topic, contract in (report.source.contracts or {}).items():
        by_contract.setdefault(contract, []).append(topic)
    return [
        (_some(name_together(((topic, None) for topic in topics), "topic")), contract)
        for contract, topics in sorted(by_contract.items(), key=lambda entry: -len(entry[1]))
    ]


def heaviest(partitions: Sequence[PartitionLedger], most: int) -> list[PartitionLedger]:
    """Return the partitions that are shown of many: those with the most messages that do not conform, in order."""
    if len(partitions) <= most:
        return [*partitions]
    ranked = sorted(partitions, key=lambda one: -(one.quarantined + (one.contradicted or 0)))
    shown = {(one.topic, one.partition) for one in ranked[:most]}
    return [one for one in partitions if (one.topic, one.partition) in shown]


def detected(detection: ReportedDetection) -> str:
    """Return the result of detection: how certain, and of what."""
    sure = _DETECTED.get(detection.verdict) or visible(detection.verdict)
    subject, version = detection.subject, detection.version
    if detection.verdict == "mixed":
        return f"{sure}, all of {visible(subject)}" if subject else sure
    if subject:
        named = f"{subject}@{version}" if version else f"{subject}, version undecided"
        return f"{visible(named)} ({sure})"
    return f"{sure}; nearest {visible(detection.nearest)}" if detection.nearest else sure


def evidence_list(detection: ReportedDetection) -> list[tuple[str, str]]:
    """Return the evidence for what was detected, and how often it is for which contract; equal evidence once."""
    result: dict[str, list[ReportedEvidence]] = {}
    for entry in detection.evidence:
        result.setdefault(entry.says, []).append(entry)
    return [(sentence(says), _support(entries)) for says, entries in result.items()]


def _support(entries: Sequence[ReportedEvidence]) -> str:
    most = max(entries, key=lambda entry: entry.count)
    contrary = max(entry.contradicting for entry in entries)
    losers = dict.fromkeys(entry.loser for entry in entries if entry.loser)
    return ", ".join([
        count_of(most.count, "time"),
        *([f"{contrary:,} to the contrary"] if contrary else ()),
        f"for {_some(list(dict.fromkeys(entry.winner for entry in entries)))}"
        + (f" against {_some(list(losers))}" if losers else ""),
        *([f"first at {place(most.first)}"] if most.first else ()),
    ])  # fmt: skip


def source_words(report: Report) -> str:
    """Return what was read: topics and brokers, files, or the quarantine of a directory."""
    source = report.source
    if source.kind == "file":
        return _some(source.paths or ()) or "files"
    topics = source.topics or ()
    if source.kind == "quarantine":
        return f"quarantine in {visible(source.directory or '')}, of {_some(topics)}"
    brokers = f" at {visible(source.bootstrap)}" if source.bootstrap else ""
    return f"{'topic' if len(topics) == 1 else 'topics'} {_some(topics)}{brokers}"


def _some(names: Sequence[str]) -> str:
    return list_first([*map(visible, names)], _MOST_NAMES)


def place(moment: ReportedMoment | ExampleMessage | EvidencePlace) -> str:
    """Return one record by its coordinates, with its time where that is known."""
    at = f" ({clock(moment.timestamp)})" if isinstance(moment, ReportedMoment) and moment.timestamp else ""
    return f"{visible(moment.topic)} partition {moment.partition} offset {moment.offset}{at}"


def places(moments: Sequence[ReportedMoment]) -> str:
    """Return the first few of some records, with topic and time written once."""
    result = [place(moments[0])]
    for before, moment in pairwise(moments[:_MOST_PLACES]):
        short = f"partition {moment.partition} offset {moment.offset}"
        result.append(short if before.topic == moment.topic else place(moment))
    more = len(moments) - _MOST_PLACES
    return ", ".join(result) + (f" and in {count_of(more, 'more partition')}" if more > 0 else "")


def clock(instant: str) -> str:
    """Return a time of the report, as `--from` takes it too; milliseconds where they say something."""
    return visible(instant.replace(".000Z", "Z"))


def period(first: str | None, last: str | None) -> str | None:
    """Return from when to when, with the date written once if it is the same; None if a time is missing."""
    if not first or not last:
        return None
    start, end = clock(first), clock(last)
    return f"{start} to {end.removeprefix(start.partition('T')[0] + 'T')}"


def switch_words(switch: VersionSwitch) -> str:
    """Return from what to what a partition changes, and where."""
    before, after = visible(switch.old), visible(switch.new)
    when = f" ({clock(switch.at_timestamp)})" if switch.at_timestamp else ""
    return f"{before} up to offset {switch.after}, {after} from {switch.at}{when}"


def share(part: int, whole: int) -> str:
    """Return a share in percent that is 0 or 100 only where it is exactly so."""
    if not whole or not part:
        return "0 %"
    if part == whole:
        return "100 %"
    percent = min(max(100 * part / whole, 0.1), 99.9)
    result = f"{percent:.1f} %"
    return f"< {result}" if 1000 * part < whole else result


def list_some(said: Sequence[str], left_out: int, noun: str) -> str:
    """Return some of several things one after the other, and how many more there are."""
    return "; ".join([*said, *([f"and {count_of(left_out, f'more {noun}')}"] if left_out > 0 else [])])


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the plural where there are several."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
