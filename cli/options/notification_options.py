"""Notification options: what a stream writes and sends after each batch."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.extras import require_extra

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

    from cdc_contracts.registry.core.report.report_model import Report
    from cdc_contracts.spark_checks.streams.deliveries import Deliveries
    from cdc_contracts.spark_checks.streams.lineage_events import LineageEvents
    from cdc_contracts.spark_checks.streams.stream_batches import StreamBatch

WEBHOOK_VARIABLE: Final = "CDC_CONTRACTS_WEBHOOK"
TOKEN_VARIABLE: Final = "CDC_CONTRACTS_WEBHOOK_TOKEN"  # noqa: S105  a name, not a token
MOST_REPORTS: Final = 1_000
"""The number of reports of batches that are kept, the newest ones."""
_CLOSING_SECONDS: Final = 10.0
_REPORT: Final = re.compile(r"batch-(\d{8,})\.json")


@dataclass(frozen=True)
class NotificationOptions:
    """Options of what a stream writes and sends after each batch."""

    interval_reports: Annotated[
        Path | None,
        typer.Option("--interval-reports", metavar="DIR", help="Write a report of each batch; keep the newest 1,000."),
    ] = None
    webhook: Annotated[
        str | None,
        typer.Option("--webhook", metavar="URL", help=f"Post findings to it as JSON; default: ${WEBHOOK_VARIABLE}."),
    ] = None
    webhook_template: Annotated[
        str | None,
        typer.Option(
            "--webhook-template", metavar="NAME|FILE", help="What is posted: slack, teams, pagerduty, or a JSON file."
        ),
    ] = None
    openlineage: Annotated[bool, typer.Option("--openlineage", help="Send OpenLineage events to $OPENLINEAGE_URL.")] = (
        False
    )

    @contextmanager
    def open(self, command: str, bootstrap: str, topics: Sequence[str]) -> Iterator[Notifier]:
        """Open what the options name, for a stream; what waits to be sent has some seconds at the end.

        Raises UsageError if an address or a template is none, UnavailableError if the folder cannot be written or the
        client of OpenLineage is not installed.
        """
        from cdc_contracts.registry.core.common.atomic_files import check_folder

        if self.interval_reports is not None:
            check_folder(self.interval_reports)
        notifier = Notifier(self.interval_reports)
        if url := self.webhook or os.environ.get(WEBHOOK_VARIABLE):
            from cdc_contracts.spark_checks.streams.deliveries import Deliveries
            from cdc_contracts.spark_checks.streams.webhook_bodies import read_template
            from cdc_contracts.spark_checks.streams.webhooks import Webhook

            template = read_template(self.webhook_template) if self.webhook_template is not None else None
            webhook = Webhook(url, os.environ.get(TOKEN_VARIABLE), template)
            notifier.webhook = Deliveries(webhook.name, webhook.post, console.say)
        elif self.webhook_template is not None:
            raise UsageError("--webhook-template needs --webhook", hint=f"Give the address, or set {WEBHOOK_VARIABLE}.")
        if self.openlineage:
            notifier.send_lineage(command, bootstrap, topics)
        try:
            yield notifier
        except BaseException:
            notifier.end_lineage(failed=True)
            raise
        else:
            notifier.end_lineage()
        finally:
            for queue in notifier.queues:
                queue.close(_CLOSING_SECONDS)


@dataclass
class Notifier:
    """Writes and sends the report of each batch."""

    folder: Path | None
    webhook: Deliveries[dict[str, Any]] | None = None
    lineage: tuple[LineageEvents, Deliveries[RunEvent]] | None = None
    interrupted: bool = False

    @property
    def queues(self) -> list[Deliveries[Any]]:
        return [queue for queue in (self.webhook, self.lineage and self.lineage[1]) if queue is not None]

    def send_lineage(self, command: str, bootstrap: str, topics: Sequence[str]) -> None:
        """Send events of this start from now on. Raises UnavailableError if the client is not installed."""
        require_extra("openlineage")
        if not _names_an_address():
            raise UsageError("no address for OpenLineage events", hint="Set OPENLINEAGE_URL, or write openlineage.yml.")
        from cdc_contracts.spark_checks.streams.deliveries import Deliveries
        from cdc_contracts.spark_checks.streams.lineage_events import TARGET, LineageEvents

        events = LineageEvents(command, bootstrap, topics)
        self.lineage = events, Deliveries(TARGET, events.send, console.say)
        self.lineage[1].put(events.started())

    def end_lineage(self, *, failed: bool = False) -> None:
        if self.lineage is not None:
            events, queue = self.lineage
            queue.put(events.ended(failed=failed, interrupted=self.interrupted))

    @property
    def wanted(self) -> bool:
        """Whether the report of a batch is used at all."""
        return self.folder is not None or bool(self.queues)

    def notify(
        self, stream: str, batch: StreamBatch, report: Report, attempt: Callable[[Callable[[], None]], None]
    ) -> None:
        """Write the report of a batch, and queue its findings; `attempt` reports files that cannot be written."""
        from cdc_contracts.spark_checks.streams.webhooks import findings_document

        if (folder := self.folder) is not None:
            attempt(lambda: _keep_report(folder, batch.number, report))
        if self.webhook is not None and (document := findings_document(report, stream=stream, batch=batch.number)):
            self.webhook.put(document)
        if self.lineage is not None:
            events, queue = self.lineage
            queue.put(events.batch_done(report))


def _names_an_address() -> bool:
    """Return whether the client of OpenLineage is configured at all; otherwise it would write to a log."""
    folders = (Path.cwd(), Path.home() / ".openlineage")
    return any(name.startswith("OPENLINEAGE_") for name in os.environ) or any(
        (folder / "openlineage.yml").exists() for folder in folders
    )


def _keep_report(folder: Path, number: int, report: Report) -> None:
    """Write the report of a batch, and remove the oldest. Raises UnavailableError if it cannot be written."""
    from cdc_contracts.registry.core.common.atomic_files import make_folder
    from cdc_contracts.registry.core.report.report_formats import write_reports

    make_folder(folder)
    write_reports(report, [folder / f"batch-{number:08}.json"])
    for old in sorted(path for path in folder.iterdir() if _REPORT.fullmatch(path.name))[:-MOST_REPORTS]:
        old.unlink(missing_ok=True)
