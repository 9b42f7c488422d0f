"""What a stream sends after a batch: findings as JSON, tried again, never in the way of the stream, without secrets."""

import json
import os
import threading
import time

import pytest
from receivers import SECRET, receiver
from topics import rendered, scope_of

from cdc_contracts.cli.options import notification_options
from cdc_contracts.cli.options.notification_options import NotificationOptions
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.streams import deliveries
from cdc_contracts.spark_checks.streams.deliveries import Deliveries, DeliveryError
from cdc_contracts.spark_checks.streams.stream_batches import StreamBatch
from cdc_contracts.spark_checks.streams.stream_metrics import StreamMetrics
from cdc_contracts.spark_checks.streams.webhook_bodies import read_template
from cdc_contracts.spark_checks.streams.webhooks import Webhook, findings_document

CONTRACT = "oms-community/canal@2"
STREAM = ("audit", "broker:9092,other:9092", ["orders"])


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch):
    monkeypatch.setattr(deliveries, "FIRST_WAIT_SECONDS", 0.001)
    monkeypatch.delenv(notification_options.WEBHOOK_VARIABLE, raising=False)
    for name in [one for one in os.environ if one.startswith("OPENLINEAGE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def audited(tmp_path):
    """The audit of twenty messages and one that is broken."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([*rendered(CONTRACT, 20, controls=0), b"broken"]))
    return audit_input(LOCAL, read_files([path], parse_range(), tasks=1), scope_of(CONTRACT), fail_on="warning")


def send(url, *documents, token=None):
    """Deliver documents; return what was said and what became of them."""
    said = []
    webhook = Webhook(url, token)
    queue = Deliveries(webhook.name, webhook.post, said.append)
    for document in documents:
        queue.put(document)
    queue.close(60)
    return said, dict(queue.counts)


def test_findings_are_posted_with_their_batch_and_without_values(audited):
    document = findings_document(audited.report, stream="q", batch=4)
    assert (document["id"], document["read"], document["quarantined"], document["verdict"]) == ("q/4", 21, 1, "drift")
    assert [(one["class"], one["severity"], one["count"]) for one in document["findings"]] == [
        ("malformed", "error", 1)
    ]
    with receiver(204) as (url, got):
        assert send(url, document, token="t0ken") == ([], {"delivered": 1, "failed": 0, "dropped": 0})
    ((path, headers, body),) = got
    assert (path, body) == (f"/hooks/{SECRET}", json.loads(json.dumps(document)))
    assert (headers["Idempotency-Key"], headers["Authorization"]) == ("q/4", "Bearer t0ken")


def strings(value):
    """All strings of a JSON value, keys left out."""
    if isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("name", ["slack", "teams", "pagerduty"])
def test_a_template_gives_findings_the_shape_that_a_receiver_takes(audited, name):
    document = findings_document(audited.report, stream="q", batch=4)
    document["topics"] = ["orders"]
    with receiver(202) as (url, got):
        webhook = Webhook(url, "t0ken", read_template(name))
        queue = Deliveries(webhook.name, webhook.post, [].append)
        queue.put(document)
        queue.close(60)
    ((_, headers, body),) = got
    assert not [text for text in strings(body) if "$" in text]
    summary = "1 finding under oms-community/canal@2: batch 4, 21 records read, 1 quarantined"
    finding = "error malformed: 1 message, first a.jsonl/0@20. The value is not one JSON text"
    assert [sum(text in one for one in strings(body)) > 0 for text in ("CDC drift in orders", summary, finding)] == [
        True, True, True,
    ]  # fmt: skip
    if name == "pagerduty":
        assert (body["routing_key"], body["event_action"], body["dedup_key"]) == ("t0ken", "trigger", "q/4")
        assert (body["payload"]["severity"], body["payload"]["source"]) == ("error", "orders")
        assert "Authorization" not in headers
    else:
        assert headers["Authorization"] == "Bearer t0ken"
    if name == "slack":
        assert {block["text"]["type"] for block in body["blocks"]} == {"plain_text"}  # where `<!channel>` means nothing
    if name == "teams":
        (card,) = body["attachments"]
        assert card["content"]["$schema"] == "http://adaptivecards.io/schemas/adaptive-card.json"
        assert {block["type"] for block in card["content"]["body"]} == {"RichTextBlock"}  # where Markdown means nothing


def test_long_lists_and_hostile_names_fit_what_receivers_take(audited):
    document = findings_document(audited.report, stream="q", batch=4)
    (one,) = document["findings"]
    document["findings"] = [one | {"table": "shop.\x1b[31m" + "x" * 400}] * 12
    header, _, section = read_template("slack").fill(document, None)["blocks"]
    assert len(header["text"]["text"]) <= 150
    text = section["text"]["text"]
    assert len(text) <= 3_000
    assert text.endswith("… and 2 more")
    assert "\x1b" not in text


def test_a_template_of_ones_own_has_the_whole_document_or_parts_of_it(audited, tmp_path):
    path = tmp_path / "own.json"
    path.write_text('{"all": "$document", "n": 1, "costs": "$$5", "what": ["${verdict} of $contract", null]}')
    document = findings_document(audited.report, stream="q", batch=4)
    assert read_template(str(path)).fill(document, None) == {
        "all": document, "n": 1, "costs": "$5", "what": ["drift of oms-community/canal@2", None],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": "$verdct"}', "$verdct stands for nothing in `$verdct`"),
        ('{"a": ["costs $ 5"]}', "a `$` without a name"),
        ('{"a": "all: $document"}', "$document stands for nothing"),
        ("{", "the template is not JSON"),
        (None, "there is no such template"),
    ],
)
def test_a_template_that_is_none_is_refused_at_the_start(tmp_path, text, said):
    path = tmp_path / "own.json"
    if text is not None:
        path.write_text(text)
    options = NotificationOptions(webhook="http://127.0.0.1:1/", webhook_template=str(path))
    with pytest.raises(UsageError) as refused, options.open(*STREAM):
        pass
    assert said in str(refused.value)
    with pytest.raises(UsageError, match="--webhook-template needs --webhook"):
        NotificationOptions(webhook_template="slack").open(*STREAM).__enter__()


def test_a_batch_without_grave_findings_is_not_posted(tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_bytes(b"\n".join(rendered(CONTRACT, 20, controls=0)))
    report = audit_input(LOCAL, read_files([path], parse_range(), tasks=1), scope_of(CONTRACT), fail_on="error").report
    assert findings_document(report, stream="q", batch=0) is None


def test_what_may_succeed_later_is_tried_again_and_what_may_not_is_given_up():
    document = {"id": "q/1"}
    with receiver(503, 429, 200) as (url, got):
        assert send(url, document) == ([], {"delivered": 1, "failed": 0, "dropped": 0})
        assert len(got) == 3
    for code in (404, 307):
        with receiver(code) as (url, got):
            assert send(url, document) == (
                [f"warning: webhook 127.0.0.1: answered {code}; giving up"], {"delivered": 0, "failed": 1, "dropped": 0},
            )  # fmt: skip
            assert len(got) == 1
    with receiver(500) as (url, got):
        _, counts = send(url, document)
        assert (len(got), counts["failed"]) == (deliveries.ATTEMPTS, 1)


def test_neither_path_nor_token_is_in_what_is_said(caplog):
    caplog.set_level("DEBUG", "httpx")
    said, counts = send(f"http://user:{SECRET}@127.0.0.1:1/{SECRET}", {"id": "q/1"}, token=SECRET)
    assert (said, counts["failed"]) == (["warning: webhook 127.0.0.1: ConnectError; giving up"], 1)
    with receiver(200) as (url, _):
        send(url, {"id": "q/1"}, token=SECRET)
    assert SECRET not in caplog.text
    with pytest.raises(UsageError) as refused:
        Webhook(f"ftp://host/{SECRET}", None)
    assert SECRET not in str(refused.value)


def test_nothing_waits_for_a_receiver_that_does_not_answer_and_only_the_newest_wait(monkeypatch):
    monkeypatch.setattr(deliveries, "MOST_WAITING", 3)
    begun, let_go, sent, said = threading.Event(), threading.Event(), [], []

    def stuck(number):
        begun.set()
        let_go.wait(60)
        sent.append(number)

    queue = Deliveries("webhook x", stuck, said.append)
    queue.put(0)
    begun.wait(60)
    for number in range(1, 10):
        queue.put(number)
    queue.close(0.05)
    assert said == ["warning: webhook x: not everything was delivered before the end"]
    let_go.set()
    queue.close(60)
    assert (sent, queue.counts["dropped"], queue.counts["delivered"]) == ([0, 7, 8, 9], 6, 4)


def test_waits_grow_up_to_a_bound_and_last_as_long_as_the_receiver_asks_for(monkeypatch):
    waits = []
    monkeypatch.setattr(deliveries, "FIRST_WAIT_SECONDS", 1.0)
    monkeypatch.setattr(Deliveries, "_rest", lambda _, seconds: waits.append(seconds))

    def refuse(wait):
        raise DeliveryError("no", wait=wait)

    queue = Deliveries("x", refuse, [].append)
    queue.put(None)
    queue.put(30.0)
    queue.close(60)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 30, 30, 30, 30, 30, 32, 60]


def test_the_report_of_each_batch_is_kept_and_the_oldest_are_removed(audited, tmp_path, monkeypatch):
    monkeypatch.setattr(notification_options, "MOST_REPORTS", 2)
    folder = tmp_path / "new" / "batches"
    with NotificationOptions(interval_reports=folder).open(*STREAM) as notifier:
        assert notifier.wanted
        (tmp_path / "new").mkdir()
        for number in range(8, 11):
            batch = StreamBatch(number, {}, audited.tally, 1.0)
            notifier.notify("q", batch, audited.report, lambda write: write())
            (folder / "note.json").touch()
    assert sorted(path.name for path in folder.iterdir()) == ["batch-00000009.json", "batch-00000010.json", "note.json"]
    assert json.loads((folder / "batch-00000010.json").read_text())["ledger"]["read"] == 21


def test_the_address_may_come_from_the_environment_and_deliveries_are_counted_in_metrics(audited, monkeypatch):
    with NotificationOptions().open(*STREAM) as notifier:
        assert not notifier.wanted
    metrics = StreamMetrics()
    with receiver(200) as (url, got):
        monkeypatch.setenv(notification_options.WEBHOOK_VARIABLE, url)
        with NotificationOptions().open(*STREAM) as notifier:
            metrics.count_deliveries("webhook", notifier.webhook.counts)
            notifier.notify("q", StreamBatch(3, {}, audited.tally, 1.0), audited.report, lambda write: write())
        assert [body["id"] for _, _, body in got] == ["q/3"]
    deadline = time.monotonic() + 60
    wanted = 'cdc_contracts_follow_deliveries_total{outcome="delivered",target="webhook"} 1.0'
    while wanted not in metrics.text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert wanted in metrics.text()


def events_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_openlineage_events_describe_the_run_its_batches_and_what_their_messages_break(audited, tmp_path, monkeypatch):
    pytest.importorskip("openlineage.client")
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import RunState
    from openlineage.client.transport.file import FileConfig, FileTransport

    from cdc_contracts.spark_checks.streams import lineage_events

    log = tmp_path / "events.jsonl"
    monkeypatch.setenv("OPENLINEAGE_URL", "http://localhost:1")
    monkeypatch.setattr(
        lineage_events, "OpenLineageClient",
        lambda: OpenLineageClient(transport=FileTransport(FileConfig(append=True, log_file_path=str(log)))),
    )  # fmt: skip
    stream = ("audit", "broker:9092,other:9092", ["a.jsonl"])
    with NotificationOptions(openlineage=True).open(*stream) as notifier:
        notifier.notify("q", StreamBatch(3, {}, audited.tally, 1.0), audited.report, lambda write: write())
        notifier.interrupted = True
    events = events_of(log)
    assert [one["eventType"] for one in events] == [RunState.START.name, RunState.RUNNING.name, RunState.ABORT.name]
    assert len({one["run"]["runId"] for one in events}) == 1
    assert {(one["job"]["namespace"], one["job"]["name"]) for one in events} == {("cdc-contracts", "audit.a.jsonl")}
    (dataset,) = events[1]["inputs"]
    assert (dataset["namespace"], dataset["name"]) == ("kafka://broker:9092", "a.jsonl")
    assert dataset["inputFacets"]["inputStatistics"]["rowCount"] == 21
    whole, broken = dataset["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert (whole["assertion"], whole["success"], whole["expected"]) == ("conforms-to-contract", False, CONTRACT)
    assert (broken["assertion"], broken["name"], broken["success"]) == ("D01.json", "malformed", False)
    assert (broken["severity"], broken["params"]["records"]) == ("error", 1)


def test_a_stream_that_fails_is_reported_and_a_client_that_cannot_send_disturbs_nothing(monkeypatch, capsys):
    pytest.importorskip("openlineage.client")
    from cdc_contracts.spark_checks.streams import lineage_events

    with pytest.raises(UsageError, match="no address"), NotificationOptions(openlineage=True).open(*STREAM):
        pass
    monkeypatch.setenv("OPENLINEAGE_URL", "http://localhost:1")
    sent = []

    class Client:
        def emit(self, event):
            sent.append(event.eventType.name)
            raise OSError(f"http://{SECRET}")

    monkeypatch.setattr(lineage_events, "OpenLineageClient", Client)
    monkeypatch.setattr(deliveries, "ATTEMPTS", 2)
    with pytest.raises(ZeroDivisionError), NotificationOptions(openlineage=True).open(*STREAM):
        raise ZeroDivisionError
    assert sent == ["START", "START", "FAIL", "FAIL"]
    said = capsys.readouterr().err
    assert (said.count("warning: openlineage: OSError; giving up"), SECRET in said) == (2, False)
