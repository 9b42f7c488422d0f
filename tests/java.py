"""A separate Java virtual machine for parsers and clients that exist only in Java."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import patient
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from cdc_contracts.spark_checks.spark.jars import spark_home

_OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"]


@contextmanager
def running_jvm(program: str, jars: Sequence[Path]) -> Iterator[Any]:
    """The classes of some jars are there, and the machine ends with the block."""
    port, process = launch_gateway(
        jarpath=str(next((spark_home() / "jars").glob("py4j-*.jar"))),
        classpath=os.pathsep.join(map(str, jars)),
        javaopts=_OPTIONS,
        java_path=program,
        die_on_exit=True,
        return_proc=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    yield gateway.jvm
    gateway.shutdown()
    process.stdin.close()  # it ends with its standard input
    process.wait(patient.SECONDS)
