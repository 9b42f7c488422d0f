"""The real plans of every version with messages of it, as tests/native_fuzz.c reads them.

python tests/native_corpus.py FILE
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from both_paths import VERSIONS, by_fast_path
from topics import CATALOGUE, WITH_TABLES, rendered, samples

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.validate.validation_context import open_validation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.engine.native.avro_plans import AvroProgram
    from cdc_contracts.registry.core.engine.native.scan_plans import ScanPlan

OPTIONS = ReadingOptions(tables=WITH_TABLES.tables)
MOST_PLANS = 24
"""Of a version: messages are scanned for each."""


def write_corpus(path: Path, versions: Sequence[Version] = VERSIONS) -> None:
    """Write the plans and messages of versions, of which one has Avro records."""
    groups = [group_of(version) for version in versions]
    path.write_bytes(number(len(groups)) + b"".join(groups))


def group_of(version: Version) -> bytes:
    """Return the program of a version's reader schemas if it has one, its plans, and messages."""
    messages = [value for value in samples(version) if value]
    messages += rendered(version.reference, 40, seed=7, controls=5, reading_options=OPTIONS)
    validator = FastValidator(open_validation(CATALOGUE, version.subject, OPTIONS))
    by_fast_path(validator, messages)
    scanner = validator._sorter._scanner
    plans = [one.plan for one in scanner._plans.values() if one is not None][-MOST_PLANS:]
    assert plans, f"{version} has no plan"
    avro = version.meaning.transport == "avro"
    program = program_of(validator._avro._program) if avro else b""
    return b"".join([
        number(int(avro)), program, number(len(plans)), *map(plan_of, plans), number(len(messages)),
        *map(buffer, messages),
    ])  # fmt: skip


def plan_of(plan: ScanPlan) -> bytes:
    nodes, members, names = plan.arrays()
    columns = np.array([len(image.columns) for image in plan.images], np.int32)
    return b"".join(
        [*map(buffer, (nodes.tobytes(), members.tobytes(), names, columns.tobytes())), number(len(plan.slots))]
    )


def program_of(program: AvroProgram) -> bytes:
    nodes, links, starts, roots, charsets, pages = (array.tobytes() for array in program._arrays)
    words = program._text.tobytes()
    parts = map(buffer, (nodes, links, starts, words, roots, charsets, pages))
    return b"".join([*parts, number(program._program.digits)])


def buffer(content: bytes) -> bytes:
    return number(len(content)) + content


def number(value: int) -> bytes:
    return struct.pack("=i", value)


if __name__ == "__main__":
    os.environ["CDC_CONTRACTS_NATIVE"] = "eager"
    write_corpus(Path(sys.argv[1]))
