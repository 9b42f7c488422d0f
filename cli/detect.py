"""`cdc-contracts detect`: which contract the messages of a file or topic follow, and how certain that is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli.options import run_options, validation_options
from cdc_contracts.cli.options.connection_options import Connection, ConnectionOptions
from cdc_contracts.cli.options.shared_options import AsJson, ContractFolders, spread
from cdc_contracts.cli.options.version_options import NewVersions, check_new_versions, write_versions
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES, INCONCLUSIVE, PASS
from cdc_contracts.registry.core.common.extras import require_extra

if TYPE_CHECKING:
    from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
    from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
    from cdc_contracts.registry.core.report.report_model import VersionSwitch
    from cdc_contracts.registry.core.validate.validation_context import ValidationContext
    from cdc_contracts.spark_checks.engines.engines import Input

TOPIC = "topic"
_MOST_SHOWN = 8

Messages = Annotated[int, typer.Option("--messages", metavar="N", help="Read at most this many messages.", min=1)]


@spread
def detect(
    sources: Annotated[
        list[str], typer.Argument(metavar="FILE...|-|topic T...", help="Files, - for standard input, or topics.")
    ],
    client: ConnectionOptions,
    messages: Messages = 2_000,
    whole: Annotated[bool, typer.Option("--whole", help="Each file, or the input, is one message.")] = False,
    start: run_options.From = "earliest",
    end: run_options.To = "latest",
    tables: validation_options.Tables = None,
    parameters: validation_options.Parameters = None,
    unwrap: run_options.Unwrap = None,
    schema_registry: validation_options.SchemaRegistry = None,
    new_versions: NewVersions = None,
    as_json: AsJson = False,
    folders: ContractFolders = None,
) -> None:
    """Detect the contract of messages from a sample, with the evidence. Starts no JVM.

    With --write-versions every message is read, not a sample, to find where one version ends and another begins.
    Exits with 0 if every message that fits has one reading, 1 if the messages are not in the catalogue, and 4 if it
    cannot be decided, like an audit of them.
    """
    from cdc_contracts.registry.core.detect.classifier import detect as conclude
    from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
    from cdc_contracts.registry.core.report.stored_reports import write_document
    from cdc_contracts.registry.core.validate.validation_context import Undetected

    if new_versions is not None and list(sources) == ["-"]:
        raise UsageError(
            "standard input can be read only once, and --write-versions reads its input twice",
            hint="Save it to a file.",
        )
    catalogue, reading_options = validation_options.open_reading_options(
        folders=folders, tables=tables, parameters=parameters, unwrap=unwrap, schema_registry=schema_registry
    )
    accumulator = EvidenceAccumulator(catalogue, reading_options)
    wanted: Any = None
    connection = Connection("", {})
    of_files = [Path(one) for one in sources] if sources[0] != TOPIC else []
    check_new_versions(new_versions, of_files)
    if sources[0] == TOPIC:
        require_extra("kafka")
        if len(sources) == 1:
            raise UsageError("a topic is needed", hint="Write `cdc-contracts detect topic NAME -b HOST:PORT`.")
        wanted, connection = run_options.parse_topic_options(start, end, client)
        _add_topics(accumulator, sources[1:], connection, messages, wanted)
    else:
        run_options.refuse_for_files({
            "--from": start != "earliest", "--to": end != "latest", **client.given
        })  # fmt: skip
        _add_files(accumulator, sources, messages, whole=whole)
    detection = conclude(accumulator)
    switches: Sequence[VersionSwitch] = ()
    if new_versions is not None:
        from cdc_contracts.spark_checks.engines.local_engine import LOCAL

        found = detection.open_validation(Undetected(catalogue, reading_options))
        if found is None:
            console.say(f"{new_versions} is not written: the contract of the messages cannot be determined")
        elif of_files:
            switches = _place_versions(
                run_options.open_files(of_files, None, "latest", whole=whole), found, new_versions
            )
        else:
            headers = reading_options.reads_headers
            topics = run_options.open_topics(LOCAL, connection, sources[1:], wanted, headers=headers)
            switches = _place_versions(topics, found, new_versions)
    if as_json:
        console.print_json(write_document(detection.report()))
    else:
        print_detection(detection.report())
        _print_switches(switches)
    unknown = DRIFT if detection.verdict == "not-in-catalogue" else INCONCLUSIVE
    raise typer.Exit(EXIT_CODES[PASS if detection.settled else unknown])


def _place_versions(source: Input, validation: ValidationContext, target: Path) -> Sequence[VersionSwitch]:
    """Read every message, write a versions file, and return where versions change."""
    from cdc_contracts.spark_checks.auditing import audit_input
    from cdc_contracts.spark_checks.engines.local_engine import LOCAL

    report = audit_input(LOCAL, source, validation, fail_on="error").report
    write_versions(report, target, validation.catalogue, validation.reading_options.options)
    return report.switches


def _print_switches(switches: Sequence[VersionSwitch]) -> None:
    """Print where versions change, by partition."""
    from cdc_contracts.registry.core.common.safe_text import visible
    from cdc_contracts.registry.core.report.report_wording import switch_words

    if switches:
        rows = [[visible(f"{one.topic} {one.partition}"), switch_words(one)] for one in switches]
        _print_some("Versions", ["", ""], rows)


def _add_files(accumulator: EvidenceAccumulator, sources: Sequence[str], messages: int, *, whole: bool) -> None:
    from cdc_contracts.registry.core.detect.topic_samples import add_batches, sample_files
    from cdc_contracts.registry.core.records.input_files import STDIN, plan_files, read_input_without_arrow

    if list(sources) == [STDIN]:
        add_batches(accumulator, read_input_without_arrow(sys.stdin.buffer.read(), whole=whole), messages)
    else:
        add_batches(
            accumulator, sample_files(plan_files([Path(one) for one in sources], whole=whole), messages), messages
        )


def _add_topics(
    accumulator: EvidenceAccumulator, topics: Sequence[str], connection: Connection, messages: int, wanted: Any
) -> None:
    from cdc_contracts.registry.core.detect.topic_samples import add_batches
    from cdc_contracts.spark_checks.kafka.consumer import open_reader
    from cdc_contracts.spark_checks.kafka.excerpts import read_sample

    with open_reader(connection.bootstrap, connection.properties) as reader:
        for topic in topics:
            before = accumulator.messages
            share = -(-messages // len(topics))
            add_batches(accumulator, read_sample(reader, topic, share, wanted), before + share)


def print_detection(detection: ReportedDetection) -> None:
    """Print a detection: the contract and how certain that is, then the evidence."""
    from cdc_contracts.registry.core.report.report_wording import evidence_list

    console.print_text(f"{detection.verdict.upper()}: {_sentence(detection)}")
    if detection.settle:
        console.print_text(detection.settle)
    if detection.candidates:
        rows = [
            [one.contract, f"{one.records:,}", f"{one.votes:,}", f"{one.against:,}"] for one in detection.candidates
        ]
        _print_some("Candidates", ["contract", "messages that fit", "votes for", "votes against"], rows)
    if detection.evidence:
        rows = [
            [f"{number}.", f"{says} ({support})"] for number, (says, support) in enumerate(evidence_list(detection), 1)
        ]
        _print_some("Evidence", ["", ""], rows)


def _print_some(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console.print_heading(title)
    console.print_table(header, rows[:_MOST_SHOWN])
    if len(rows) > _MOST_SHOWN:
        console.print_line(f"and {len(rows) - _MOST_SHOWN} more: --json shows all")


def _sentence(detection: ReportedDetection) -> str:
    from cdc_contracts.registry.core.report.report_wording import count_of, share

    total = count_of(detection.messages, "message")
    fit = detection.candidates[0].records if detection.candidates else 0
    those = total if fit == detection.messages else f"{fit:,} of {total} ({share(fit, detection.messages)})"
    follow, do, are = ("follows", "does", "is") if detection.messages == 1 else ("follow", "do", "are")
    subject = detection.subject
    named = subject if detection.version is None else f"{subject}@{detection.version}"
    match detection.verdict:
        case "certain":
            return f"{those} {follow} {named}"
        case "likely":
            same = " or ".join(detection.equivalent)
            reads = "reads" if len(detection.equivalent) == 1 else "read"
            undecided = "" if detection.version is not None else ", version undecided"
            return f"{those} {follow} {named}{undecided}" + (f", or {same}, which {reads} the same" if same else "")
        case "mixed" if subject is not None:
            return f"{total} follow several versions of {subject}; --write-versions FILE writes which applies where"
        case "mixed":
            return f"{total} follow several contracts; without --contract each is validated against its own"
        case "ambiguous" if detection.version is not None:
            return f"at most {those} {follow} {named}"
        case "ambiguous" if not detection.messages:
            return "there is no message"
        case "ambiguous":
            return f"{total} {do} not show which contract they follow"
    nearest = f"; the nearest contract is {detection.nearest}" if detection.nearest else ""
    return f"{total} {are} not in the catalogue{nearest}"
