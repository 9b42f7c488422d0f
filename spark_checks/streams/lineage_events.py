"""Lineage events: what a stream is doing and how good its topics are, as OpenLineage events of the official client.

One start of a stream is one run: START, RUNNING after each batch, and COMPLETE, ABORT or FAIL. A batch comes with the
facets `dataQualityAssertions` and `inputStatistics` of each topic. Where events go is up to the client, which is
configured by `OPENLINEAGE_URL` or `openlineage.yml`; events hold rules and counts, never values.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    data_quality_assertions_dataset,
    input_statistics_input_dataset,
    job_type_job,
)

from cdc_contracts import __version__
from cdc_contracts.registry.core.common.findings import INFO
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding
from cdc_contracts.spark_checks.streams.deliveries import DeliveryError

TARGET: Final = "openlineage"
NAMESPACE_VARIABLE: Final = "OPENLINEAGE_NAMESPACE"
CONFORMS: Final = "conforms-to-contract"
MOST_ASSERTIONS: Final = 200
_PRODUCER: Final = f"urn:cdc-contracts:{__version__}"


class LineageEvents:
    """Makes the events of one start of a stream, and sends one of them."""

    def __init__(self, command: str, bootstrap: str, topics: Sequence[str]) -> None:
        self._client = OpenLineageClient()
        self._run = Run(runId=str(uuid.uuid4()))
        job_type = job_type_job.JobTypeJobFacet(
            processingType="STREAMING", integration="CDC_CONTRACTS", jobType=command.upper(), producer=_PRODUCER
        )
        namespace = os.environ.get(NAMESPACE_VARIABLE) or "cdc-contracts"
        name = f"{command}.{'+'.join(topics)}"
        self._job = Job(namespace=namespace, name=name, facets={"jobType": job_type})
        self._place = f"kafka://{bootstrap.partition(',')[0].strip()}"
        self._topics = list(topics)

    def started(self) -> RunEvent:
        return self._event(RunState.START, [InputDataset(self._place, topic) for topic in self._topics])

    def batch_done(self, report: Report) -> RunEvent:
        """Return the event of a batch, from the report of it alone."""
        return self._event(RunState.RUNNING, [self._dataset(topic, report) for topic in self._topics])

    def ended(self, *, failed: bool = False, interrupted: bool = False) -> RunEvent:
        state = RunState.FAIL if failed else RunState.ABORT if interrupted else RunState.COMPLETE
        return self._event(state, [InputDataset(self._place, topic) for topic in self._topics])

    def send(self, event: RunEvent) -> None:
        """Send an event. Raises DeliveryError if it is not accepted."""
        try:
            self._client.emit(event)
        except Exception as error:  # noqa: BLE001  the transports of the client raise errors of many libraries
            raise DeliveryError(type(error).__name__) from None

    def _event(self, state: RunState, inputs: list[InputDataset]) -> RunEvent:
        return RunEvent(
            eventTime=datetime.now(UTC).isoformat(),
            run=self._run,
            job=self._job,
            eventType=state,
            inputs=inputs,
            outputs=[],
            producer=_PRODUCER,
        )

    def _dataset(self, topic: str, report: Report) -> InputDataset:
        facets: dict[str, Any] = {
            "dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
                assertions=_assertions(topic, report), producer=_PRODUCER
            ),
            "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
                rowCount=sum(one.read for one in report.ledger.partitions if one.topic == topic), producer=_PRODUCER
            ),
        }
        return InputDataset(self._place, topic, inputFacets=facets)


def _assertions(topic: str, report: Report) -> list[data_quality_assertions_dataset.Assertion]:
    """Return one assertion about all messages of a topic, and a failed one for each rule that they break."""
    counts = {
        number: sum(part.count for part in one.partitions if part.topic == topic)
        for number, one in enumerate(report.findings)
        if one.severity != INFO
    }
    broken = [report.findings[number] for number, count in counts.items() if count][:MOST_ASSERTIONS]
    whole = data_quality_assertions_dataset.Assertion(
        assertion=CONFORMS, success=not broken, expected=report.contract, severity="error"
    )
    return [whole, *(_failed(one, topic) for one in broken)]


def _failed(one: ReportedFinding, topic: str) -> data_quality_assertions_dataset.Assertion:
    count = sum(part.count for part in one.partitions if part.topic == topic)
    return data_quality_assertions_dataset.Assertion(
        assertion=one.rule,
        success=False,
        severity="error" if one.severity == "error" else "warn",
        name=one.name,
        expected=one.expected,
        actual="; ".join(one.observed),
        params={"path": one.path, "table": one.table, "records": count, "fingerprint": one.fingerprint or None},
    )
