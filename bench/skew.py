"""Measures how long a topic takes of which one partition holds nine tenths, against one whose partitions are even.

    python bench/skew.py [--messages 400000] [--rounds 5] [--cores 2] [--data bench/data]

The same messages lie in both topics of a real broker. Every way is run once to warm up, then once a round, in turn.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from confluent_kafka import Producer
from run import NEW, machine, make_capture, measure, say, validation

from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.sources import TopicInput, read_topics
from cdc_contracts.spark_checks.kafka.broker import Broker, running_broker
from cdc_contracts.spark_checks.kafka.offsets import parse_range
from cdc_contracts.spark_checks.spark.spark_session import open_session

PARTITIONS = 4
SHARE = 0.9
FLUSH = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data")
    chosen = parser.parse_args()
    captured = make_capture(chosen.data, chosen.messages)
    with ExitStack() as stack:
        session = open_session(kafka=True, cores=chosen.cores, say=say)
        stack.callback(session.stop)
        engine = SparkEngine(session)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-broker-")))
        broker = stack.enter_context(running_broker(folder / "broker", say=say))
        say("producing the messages ...")
        produce(broker, captured, "even", even)
        produce(broker, captured, "skewed", partial(skewed, int(SHARE * chosen.messages)))
        read = partial(
            read_topics,
            engine,
            broker.bootstrap,
            wanted=parse_range(),
            properties={},
            tasks=engine.tasks,
            headers=False,
        )
        topics = {
            "even": read(topics=["even"]),
            "nine tenths in one partition": read(topics=["skewed"]),
            "the same, a task for each partition": replace(read(topics=["skewed"]), tasks=None),
        }
        ways = ways_over(engine, topics, folder / "decoded")
        seconds, cpu = measure(ways, chosen.rounds)
    print(f"\n{machine()}\n{chosen.messages:,} messages, {chosen.cores} cores, median of {chosen.rounds} rounds\n")
    print("| way | wall s | CPU s | wall / even, per round | median |\n|---|---|---|---|---|")
    for name, times in seconds.items():
        base = seconds[f"{name.partition(',')[0]}, even"]
        ratios = [mine / other for mine, other in zip(times, base, strict=True)]
        listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(
            f"| {name} | {statistics.median(times):.2f} | {statistics.median(cpu[name]):.2f} "
            f"| {listed} | {statistics.median(ratios):.2f} |"
        )


def ways_over(engine: SparkEngine, topics: dict[str, TopicInput], out: Path) -> dict[str, Callable[[], object]]:
    def audit(source: TopicInput) -> None:
        audit_input(engine, source, validation(NEW), fail_on="warning")

    def decode(source: TopicInput) -> None:
        decode_input(engine, source, validation(NEW), Output(str(out)), fail_on="error")
        shutil.rmtree(out)

    return {
        f"{verb}, {name}": partial(run, source)
        for verb, run in (("audit", audit), ("decode", decode))
        for name, source in topics.items()
    }


def produce(broker: Broker, captured: Path, topic: str, place: Callable[[int, int], int]) -> None:
    """Write the messages of a capture to a topic, in their order, each where `place` says by its number."""
    broker.create_topic(topic, PARTITIONS)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 50})
    for number, (partition, value) in enumerate(messages(captured)):
        producer.produce(topic, value, partition=place(number, partition))
        if number % FLUSH == FLUSH - 1:
            producer.flush()
    producer.flush()


def messages(captured: Path) -> Iterator[tuple[int, bytes]]:
    for batch in pq.ParquetFile(captured).iter_batches(columns=["partition", "value"]):
        yield from zip(batch.column("partition").to_pylist(), batch.column("value").to_pylist(), strict=True)


def even(number: int, partition: int) -> int:
    return partition


def skewed(first: int, number: int, partition: int) -> int:
    return 0 if number < first else 1 + number % (PARTITIONS - 1)


if __name__ == "__main__":
    main()
