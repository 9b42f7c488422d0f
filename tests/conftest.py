"""What several tests share: one Spark session and one Kafka broker, both real, started when first asked for."""

from __future__ import annotations

import gc
import os
import signal
import sys
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.unraisableexception import gc_collect_iterations_key
from case_sampling import SAMPLING, VARIABLE, Sampled, T, sample, set_seed, take_part, turn_of
from certificates import Authority
from hypothesis import core, settings
from hypothesis.internal.conjecture import providers
from producing import Record, write_records
from two_ends import JAVA, TwoEnds, order_files
from worker_reports import say_what_counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_contracts.spark_checks.engines.engines import Engine
    from cdc_contracts.spark_checks.kafka.broker import Broker

MakeTopic = Callable[..., str]
TakePart = Callable[[Iterable[T], int], list[T]]

WORKERS = 3
"""Processes that the whole suite is run by, file by file; each starts a Spark and a broker of its own when needed."""
SPARK_CHECKS = Path(__file__).with_name("spark_checks")
STARTING_JAVA = frozenset({"spark", "broker", "java"})
"""Fixtures that start a Java virtual machine; a test that starts one by itself is marked, or lies in SPARK_CHECKS."""
SPARK_OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=3 -XX:+UseSerialGC",
    "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN",
    "-Dspark.sql.adaptive.enabled=false -Dspark.sql.shuffle.partitions=2 -Dspark.databricks.delta.snapshotPartitions=1",
)
"""Of sessions of Spark, also of commands that tests start: on little data what compiles costs more than it gives.

Rows are shuffled between two tasks, so that what holds in one task only still shows. `CDC_CONTRACTS_SPARK=own` leaves
Spark as users have it.
"""
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Judging makes many small objects and hardly a cycle: with Python's 700 a quarter of the time went into looking."""
COLLECTIONS_BETWEEN_FULL_ONES = 50
"""Of the second generation: a full one looks through what all tests share, for seconds, and finds next to nothing."""
NO_JAVA = Path(__file__).with_name("a test that starts Java needs the mark `java`")


SEED = pytest.StashKey[str]()
"""Where the configuration of a run keeps what its cases are chosen by."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the cases too that a default run leaves to the night")


def pytest_configure(config: pytest.Config) -> None:
    take_signals()
    config.stash[SEED] = set_seed()
    draw_examples(config.stash[SEED], nightly=config.getoption("nightly"))
    # Hypothesis also draws the constants of modules loaded so far: other ones in each process and each order of tests.
    providers.is_local_module_file = lambda file: False
    # PySpark leaves the socket of each `collect` to the garbage collector, which runs in any later test.
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket.socket:ResourceWarning")
    if os.environ.get("CDC_CONTRACTS_SPARK") != "own":
        os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(SPARK_OPTIONS))
    # What a shell starts in the background ignores Ctrl-C, and so does all that it starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Some images forbid it, and then each process that tests start compiles the package anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False  # and so does each run of a few tests in this process
    gc.disable()  # until the tests are collected, which stay until the end
    if hasattr(config, "workerinput"):
        say_what_counts(config)
    config.stash[gc_collect_iterations_key] = 0  # at the end `pytest_sessionfinish` has collected, which takes seconds


def draw_examples(seed: str, *, nightly: bool) -> None:
    """Let Hypothesis draw the same examples in every default run, and at night others after each commit.

    A run that fails has to fail again, and two busy cores are no place for deadlines.
    """
    examples = 100 if nightly else 50
    settings.register_profile("house", deadline=None, database=None, derandomize=not nightly, max_examples=examples)
    settings.load_profile("house")
    if nightly:
        core.global_force_seed = turn_of(seed)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print which cases of sampled tests are run; the header of pytest is not shown with `-q`."""
    config, reporter = session.config, session.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None and not config.getoption("collectonly"):
        chosen = "examples are drawn by" if config.getoption("nightly") else "sampled tests run the cases of"
        reporter.write_line(f"{chosen} {VARIABLE}={config.stash[SEED]}")


def take_signals() -> None:
    """Let signals that ask to stop do so here, and in all that tests start, as if a terminal had started the tests.

    A shell's `&`, `nohup` and schedulers of jobs have their children ignore some, and children inherit that.
    """
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Let tests that are named run in this process, where a debugger and `-s` work."""
    return WORKERS if config.args == config.getini("testpaths") else 0


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> TwoEnds | None:
    """Share files out from two ends, unless another way is asked for."""
    return TwoEnds(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what starts Java and what tries a part of its values, leave cases to the night, and order the others."""
    of_spark = {path for path in {item.path for item in items} if SPARK_CHECKS in path.parents}
    for item in items:
        if STARTING_JAVA.intersection(getattr(item, "fixturenames", ())) or item.path in of_spark:
            item.add_marker(JAVA)
        if "part" in getattr(item, "fixturenames", ()):
            item.add_marker("parts")
    sampled = sample(items, turn_of(config.stash[SEED]))
    config.stash[SAMPLING] = sampled
    if not config.getoption("nightly") and not any("::" in argument for argument in config.args):
        taken: tuple[list[pytest.Item], list[pytest.Item]] = ([], [])
        for item in items:
            taken[left_to_the_night(item, sampled)].append(item)
        items[:], left = taken
        config.hook.pytest_deselected(items=left)
    if hasattr(config, "workerinput"):
        items[:] = order_files(items)


def left_to_the_night(item: pytest.Item, sampled: Sampled) -> bool:
    """Say whether a default run leaves a case out: one marked `nightly`, or not among those of `one_in(n)`."""
    if item.get_closest_marker("nightly"):
        return True
    chosen, whole = sampled.get(item.nodeid.partition("[")[0], (set(), set()))
    return item.nodeid in whole - chosen


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 10, COLLECTIONS_BETWEEN_FULL_ONES)
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.collect()  # connections that tests left to the collector are closed while the filters of warnings hold


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hide Java from a test that has not said that it starts one, by a fixture or by its mark."""
    if item.get_closest_marker(JAVA):
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(NO_JAVA))
        return (yield)


@pytest.fixture
def part(request: pytest.FixtureRequest) -> TakePart[T]:
    """A function that returns every n-th of the values of a case, others after each commit, and all at night."""
    config, case = request.config, request.node.nodeid
    if config.getoption("nightly"):
        return lambda values, share: list(values)
    return lambda values, share: take_part(values, share, case, turn_of(config.stash[SEED]))


@pytest.fixture
def first_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands know the versions of `dts/canal` that scenarios are about, and none that came later."""
    from topics import SCENARIOS, leave_out_later_versions

    from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue

    monkeypatch.setattr(Catalogue, "_scan", leave_out_later_versions)
    shipped = shipped_catalogue()
    monkeypatch.setattr(shipped, "_versions", {
        subject: {number: shipped._versions[subject][number] for number in versions}
        for subject, versions in SCENARIOS._versions.items()
    })  # fmt: skip


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from cdc_contracts.spark_checks.spark.spark_session import open_session

    formats = os.environ.get("CDC_CONTRACTS_FORMATS", "delta iceberg").split()
    session = open_session(kafka=True, cores=2, formats=[one for one in formats if one != "parquet"], say=print)
    yield session
    session.stop()


@pytest.fixture(scope="session", params=["local", pytest.param("spark", marks=pytest.mark.nightly)])
def engine(request: pytest.FixtureRequest) -> Engine:
    """What executes an audit or a decode that either engine does: this process, and every night Spark as well."""
    from cdc_contracts.spark_checks.engines.local_engine import LOCAL
    from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine

    return LOCAL if request.param == "local" else SparkEngine(request.getfixturevalue("spark"))


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Who signs the certificates of the broker."""
    return Authority(tmp_path_factory.mktemp("certificates"), "authority")


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Broker]:
    """A broker that also has the listeners of `secured_broker`."""
    pytest.importorskip("confluent_kafka", reason="a broker is of use only with the extra 'kafka'")
    from secured_broker import SETTINGS, secured_listeners

    from cdc_contracts.spark_checks.kafka.broker import VERSION, running_broker

    version = os.environ.get("CDC_CONTRACTS_KAFKA", VERSION)
    folder, listeners = tmp_path_factory.mktemp("broker"), secured_listeners(authority)
    with running_broker(folder, say=print, listeners=listeners, settings=SETTINGS, version=version) as running:
        yield running


@pytest.fixture(scope="session")
def make_topic(broker: Broker) -> MakeTopic:
    """A function that writes records to a topic of their own and returns its name."""

    def make(records: Sequence[Record] = (), *, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        topic = f"t-{uuid.uuid4().hex[:12]}"
        broker.create_topic(topic, partitions, config)
        write_records(broker, topic, records)
        return topic

    return make
