"""Failures of Kafka and of the jobs that read it, raised as our errors and without any password."""

from __future__ import annotations

import difflib
import logging
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from socketserver import BaseServer
from typing import Any, Final, NoReturn

from cdc_contracts.registry.core.common.errors import CdcContractsError, UnavailableError, UsageError
from cdc_contracts.spark_checks.kafka.connections import find_certificate_fault, find_protocol_fault
from cdc_contracts.spark_checks.kafka.credentials import describe_right, find_principal, hide
from cdc_contracts.spark_checks.kafka.offsets import Limits

TIMEOUT_SECONDS: Final = 15
"""How long a broker may take to answer a request."""
_LOST: Final = "may have been lost"
_TWO_STREAMS: Final = "Multiple streaming jobs detected"
_OF_KAFKA: Final = re.compile("Topic|Partition|Authentication|Authorization|Sasl|Timeout|Config|Broker|Disconnect")
_UNSEEN: Final = logging.NullHandler()
"""py4j logs lost connections to the root logger; if that has no handler, Python adds one that prints everything."""
_NO_TLS: Final = (
    "no TLS connection can be established",
    "Check security.protocol and the properties that begin with ssl. in the Kafka properties.",
)
_MECHANISMS: Final = re.compile(r"(?:supported mechanisms:|enabled mechanisms are) \[?([A-Z0-9, -]*[A-Z0-9])")
_UNREAD_STORE: Final = re.compile(r"Failed to load SSL keystore (.+?) of type")
_NO_PBES2: Final = "PBES2 SecretKeyFactory not available"
_REFUSED_NAMES: Final = re.compile(r"Not authorized to access (topics: \[(?P<topics>[^\]]+)\]|group: (?P<group>\S+))")
_LAST_SECONDS: Final = 2.0
"""A process that dies closes its connections first."""
_WORKER_GONE: Final = "Python worker exited unexpectedly"
_REFUSED: Final = re.compile(r"^\w*Error: (\[Errno \d+\].*)$", re.MULTILINE)


@contextmanager
def reading(
    bootstrap: str, selected: Mapping[str, Limits], properties: Mapping[str, str], ask_limits: Callable[[str], Limits]
) -> Iterator[None]:
    """Turn failures while Spark reads ranges of topics into actionable errors.

    `ask_limits` asks the broker for the offsets that a topic has now. Raises UnavailableError if records have been
    deleted since the range was resolved, or the broker refuses them.
    """
    try:
        yield
    except Exception as error:
        thrown = getattr(error, "java_exception", None)
        if thrown is None:
            raise
        causes = list(causes_of(thrown))
        lost = next((message for _, message in causes if _LOST in message), None)
        if lost is not None:
            place = re.search(r"offset \[(\d+), (\d+)\) for topic partition (\S+)-(\d+)", lost)
            raise _lost_of(place, selected, ask_limits) from error
        if any(name.endswith(("AuthorizationException", "AuthenticationException")) for name, _ in causes):
            result = describe_causes(causes, properties)
            raise_failure(
                None, causes, result, properties, bootstrap=bootstrap, topic=", ".join(selected), reading=True
            )
        raise


@contextmanager
def outliving() -> Iterator[None]:
    """Turn the death of a Spark process, or a full disk, into an actionable error.

    Raises UnavailableError if the JVM is gone, or the Python process of a task, or a file cannot be written.
    """
    from py4j.protocol import Py4JError, Py4JJavaError

    _mute()
    try:
        yield
    except CdcContractsError:
        raise
    except Exception as error:
        again = "The unfinished run does not count: run the same command again."
        cut_off = isinstance(error, (Py4JError, EOFError, OSError)) and not isinstance(error, Py4JJavaError)
        if cut_off and jvm_is_gone():
            dead = "Spark's JVM"
        elif _WORKER_GONE in str(error):
            dead = "a Python worker of Spark"
        elif refused := _REFUSED.findall(f"{type(error).__name__}: {error}"):
            hint = f"Check the disk, its free space and your permissions. {again}"
            raise UnavailableError(f"a file cannot be written or read: {refused[-1]}", hint=hint) from error
        else:
            raise
        hint = f"It was killed, most often for lack of memory; fewer --cores need less. {again}"
        raise UnavailableError(f"{dead} ended unexpectedly", hint=hint) from error


def _mute() -> None:
    """Silence the code that prints a traceback if a connection to the JVM is lost: it is reported as one error.

    This changes the classes of servers, not a server, since the session is opened later. Spark 4.0 has one class, later
    versions one for each kind of socket.
    """
    from pyspark import accumulators

    logging.getLogger().addHandler(_UNSEEN)
    for server in vars(accumulators).values():
        if isinstance(server, type) and issubclass(server, BaseServer) and server.__module__ == accumulators.__name__:
            server.handle_error = lambda *_: None  # type: ignore[method-assign]


def jvm_is_gone() -> bool:
    """Return whether the JVM that this process has started has ended, or is about to."""
    from pyspark import SparkContext

    started = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001  there is no other way to know
    if started is None:
        return False
    with suppress(subprocess.TimeoutExpired):
        started.wait(_LAST_SECONDS)
    return started.poll() is not None


class RecordsGone(UnavailableError):
    """Records to be read no longer exist."""


def lost_records(topic: str, partition: int, wanted: tuple[int, int], limits: tuple[int, int] | None) -> RecordsGone:
    """Return the error for records that existed when the range was resolved, but not when they were read.

    `wanted` are the offsets to be read, `limits` those that the partition has now, None if it does not tell.
    """
    start, end = wanted
    if limits is not None and limits[0] > start:
        end = min(end, limits[0])
    return _records_gone(f"{topic} partition {partition}, offsets {start} to {end}")


def _records_gone(where: str) -> RecordsGone:
    return RecordsGone(
        "records were deleted from the topic before they were read",
        where=where,
        hint="Start again with --from earliest, or let the topic keep its records longer (retention.ms).",
    )


def _lost_of(
    task: re.Match[str] | None, selected: Mapping[str, Limits], ask_limits: Callable[[str], Limits]
) -> RecordsGone:
    """Return the error for what is gone of a range, given the part of it that the task that failed was to read."""
    if task is None:
        return _records_gone(", ".join(selected))
    topic, partition = task[3], int(task[4])
    wanted = selected.get(topic, {}).get(partition, (int(task[1]), int(task[2])))
    limits: Limits = {}
    with suppress(Exception):  # the error is raised without them
        limits = ask_limits(topic)
    return lost_records(topic, partition, wanted, limits.get(partition))


def raise_failure(
    topics: Callable[[], Iterable[str]] | None,
    causes: Sequence[tuple[str, str]],
    messages: Sequence[str],
    properties: Mapping[str, str],
    *,
    bootstrap: str,
    topic: str,
    reading: bool = False,
) -> NoReturn:
    """Raise an error for the classes and messages of a Java exception; `messages` are the messages fit to be shown.

    `topics` asks the broker for the existing names, if it can be asked. `reading` means that the broker has already
    returned the limits of the topic, which requires another right.
    """
    names = {name for name, _ in causes}
    last = messages[-1] if messages else causes[-1][0]
    if "UnknownTopicOrPartitionException" in names or "InvalidTopicException" in names:
        raise UnavailableError(f"there is no topic {topic}", where=bootstrap, hint=_near(topics, topic)) from None
    if any(name.endswith("AuthorizationException") for name in names):
        raise _unauthorized(properties, last, bootstrap=bootstrap, topic=topic, reading=reading) from None
    refused = _refused_connection(causes, messages, properties, bootstrap)
    if refused is not None:
        what, hint = refused
        raise UnavailableError(what, where=bootstrap, hint=f"{hint}\n  | {last}") from None
    if any("bootstrap" in line for line in messages):
        raise UnavailableError("the broker's address cannot be resolved", where=bootstrap, hint=f"| {last}") from None
    if "ConfigException" in names or topics is None:
        raise _unusable_properties(messages, last) from None
    raise UnavailableError("the broker could not answer", where=bootstrap, hint=f"| {last}") from None


def _refused_connection(
    causes: Sequence[tuple[str, str]], messages: Sequence[str], properties: Mapping[str, str], bootstrap: str
) -> tuple[str, str] | None:
    """Return why no connection comes about, and the solution; None if one did."""
    names = {name for name, _ in causes}
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if "SslAuthenticationException" in names:
        reasons = "\n".join(f"{name}: {message}" for name, message in causes)
        return find_certificate_fault(reasons) or find_protocol_fault(bootstrap, protocol) or _NO_TLS
    if offered := _MECHANISMS.search("\n".join(messages)):
        mechanism = properties.get("sasl.mechanism", properties.get("sasl.mechanisms", "GSSAPI"))
        offers = ", ".join(re.split(r",\s*", offered[1]))
        return f"the broker does not offer the mechanism {mechanism}", f"It offers {offers}: set sasl.mechanism."
    if any(name.endswith("AuthenticationException") or "Sasl" in name for name in names):
        hint = f"Check the password of {find_principal(properties)}, and sasl.mechanism."
        return "the broker refuses the credentials", hint
    if "TimeoutException" in names:
        hint = f"Check the address, and security.protocol ({protocol}): some brokers do not answer without a login."
        return find_protocol_fault(bootstrap, protocol) or ("the broker did not answer in time", hint)
    return None


def _unusable_properties(messages: Sequence[str], last: str) -> UsageError:
    if store := _UNREAD_STORE.search("\n".join(messages)):
        hint = "Check its password, and the properties that begin with ssl."
        return UsageError("the store cannot be read", where=store[1], hint=f"{hint}\n  | {last}")
    if _NO_PBES2 in last:
        hint = "Put it and its certificate into a PKCS12 store: openssl pkcs12 -export; or use --engine local."
        return UsageError("Java before 19 cannot read an encrypted PEM key", hint=f"{hint}\n  | {last}")
    return UsageError("the Kafka properties cannot be used", hint=f"| {last}")


def _unauthorized(
    properties: Mapping[str, str], message: str, *, bootstrap: str, topic: str, reading: bool
) -> UnavailableError:
    """Return the error for a right that is missing, with the command that grants it."""
    listed = _REFUSED_NAMES.search(message)
    kind, name = ("group", listed["group"]) if listed and listed["group"] else ("topic", topic)
    if listed and listed["topics"]:
        name = listed["topics"]
    verb = "use" if kind == "group" else "read" if reading else "see"
    hint = describe_right(properties, bootstrap, "Read", name.split(", "), kind=kind)
    return UnavailableError(f"not authorized to {verb} {kind} {name}", where=bootstrap, hint=f"{hint}\n  | {message}")


def raise_stream_failure(
    thrown: Any, topics: Callable[[], Iterable[str]], properties: Mapping[str, str],
    *, bootstrap: str, topic: str, checkpoint: str,
) -> NoReturn:  # fmt: skip
    """Raise an error for whatever ended a stream: Spark, Kafka or a second process."""
    causes = list(causes_of(thrown))
    result = describe_causes(causes, properties)
    if any(_TWO_STREAMS in line for line in result):
        raise UnavailableError(
            "another process uses this checkpoint",
            where=checkpoint,
            hint="Stop one of them: a checkpoint belongs to one stream.",
        )
    if any(_OF_KAFKA.search(name) for name, _ in causes):
        raise_failure(topics, causes, result, properties, bootstrap=bootstrap, topic=topic)
    last = result[-1] if result else causes[-1][0]
    raise UnavailableError("Spark has ended the stream", where=checkpoint, hint=f"| {last}")


def causes_of(thrown: Any) -> Iterator[tuple[str, str]]:
    """Yield class and message of a Java exception and of all its causes."""
    while thrown is not None:
        yield thrown.getClass().getSimpleName(), thrown.getMessage() or ""
        thrown = thrown.getCause()


def describe_causes(causes: Iterable[tuple[str, str]], properties: Mapping[str, str]) -> list[str]:
    """Return the messages of Java exceptions, fit to be shown."""
    return [hide(f"{name}: {message}", properties) for name, message in causes if message]


def _near(topics: Callable[[], Iterable[str]] | None, topic: str) -> str:
    try:
        near = difflib.get_close_matches(topic, list(topics()), 3) if topics is not None else []
    except Exception:  # noqa: BLE001
        near = []  # failing to find a hint is no error
    return f"Near it are: {', '.join(near)}." if near else "Check the name."
