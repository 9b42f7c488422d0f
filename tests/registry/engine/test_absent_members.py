"""Members that a contract allows to be absent: both paths give the same verdict and the same rows without them.

Each version is taken as it is shipped, and as drafts and contracts of users may be: with every member optional, and
with no rule that asks for one.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import pytest
from mutations import DROP, members, replaced, written
from open_schemas import with_optional_members
from output_rows import by_kernel, records_of, unlike_columns
from topics import CATALOGUE, WITH_TABLES, rendered, samples

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.reading import Reading, non_column_members
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.stats.run_findings import finalize
from cdc_contracts.registry.core.validate.validation_context import open_validation

EACH = 1 if os.environ.get("CDC_CONTRACTS_COLUMNS", "30") == "30" else 4
"""Of so many messages of an op a member is left out."""
ALONE = ReadingOptions(parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
WITH_CONTRACTS = ReadingOptions(tables=WITH_TABLES.tables, parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
KINDS = ("shipped", "all optional", "no rules")
"""The last have one rule only: that an op has its images."""


@cache
def catalogue_of(kind: str) -> Catalogue:
    """Return the shipped contracts, or others made of them that demand less of a message."""
    if kind == "shipped":
        return CATALOGUE
    catalogue = Catalogue(CATALOGUE.roots)
    for version in catalogue.all_versions():
        code = version.resolved["envelope"]["op"]["at"]
        less = {"discriminators": [{"present": code}], "version_evidence": []}
        if kind == "no rules":
            less |= {"rules": ["image-present-for-op"], "notes": []}
        vars(version).update(resolved=version.resolved | less, schema=with_optional_members(version.schema))
    return catalogue


def without_members(version: Version) -> Iterator[Callable[[], bytes | None]]:
    """Yield messages of a version, and each member outside of their rows left out of one of them, and null in another.

    Of an object that names columns, such as their types, one column is left out. Each message is written when it is
    called for: a part of them is asked for. None is what no record can hold.
    """
    wire, draw = open_transport(version, ALONE), random.Random(version.reference)
    images = {split_pointer(at): non_column_members(version.meaning, at) for at in version.meaning.images.pointers()}
    stream = rendered(version.reference, 2 + 2 * EACH, seed=11, snapshot=1, controls=3, reading_options=ALONE)
    types, codes = version.meaning.columns.types, version.meaning.columns.codes
    named = [split_pointer(one.at) for one in (types, codes) if isinstance(getattr(one, "at", None), str)]
    named += [(*at, types.in_image) for at in images if getattr(types, "in_image", None)]
    found: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for value in [*samples(version), *stream]:
        try:
            message = wire.open(value)
        except Unreadable:
            continue
        yield partial(bytes, value)
        op = Reading(version.meaning, message, ALONE).op
        for parts in members(message):
            rows = [at for at in images if at and len(parts) > len(at) and parts[: len(at)] == at]
            if all(parts[len(at)] in images[at] for at in rows):
                of_column = next((at for at in named if len(parts) > len(at) and parts[: len(at)] == at), None)
                found.setdefault((op, of_column or parts, len(parts)), []).append((message, parts))
    for holders in found.values():
        for other in (DROP, None):
            for message, parts in draw.sample(holders, min(EACH, len(holders))):
                yield partial(written, wire, partial(replaced, message, parts, other))


@cache
def messages_of(reference: str) -> tuple[Callable[[], bytes | None], ...]:
    return tuple(without_members(CATALOGUE.version(reference)))


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("setting", "options"), [("off", ALONE), ("eager", WITH_CONTRACTS)], ids=["off", "eager"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reference", [str(version) for version in CATALOGUE.all_versions()])
def test_both_paths_agree_on_messages_without_any_member_of_the_envelope(
    reference, kind, part, setting, options, monkeypatch
):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    values = [*dict.fromkeys(value for write in part(messages_of(reference), 24) if (value := write()) is not None)]
    validation = open_validation(catalogue_of(kind), reference, options)
    mixed = random.Random(reference + setting).sample(values, len(values))
    found = unlike_columns(validation, mixed, Kernel(validation))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("setting", ["off", "on", "eager"])
def test_a_row_without_types_has_the_values_that_were_sent(setting, monkeypatch):
    """In a batch with rows that have them; each value is then what its JSON kind says, and none is lost."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = open_validation(catalogue_of("all optional"), "dts/canal@2", ALONE)
    message = {
        "database": "shop", "table": "orders", "type": "INSERT", "isDdl": False, "id": 1, "es": 1718000000000,
        "ts": 1718000000123, "pkNames": ["id"], "sql": "", "mysqlType": {"id": "int", "at": "datetime", "n": "text"},
        "sqlType": {"id": 4, "at": 93, "n": 12}, "old": None, "data": [{"id": "1", "at": "2024-06-10 06:13:20", "n": None}],
    }  # fmt: skip
    untyped = [{**message, "mysqlType": None}, {name: one for name, one in message.items() if name != "mysqlType"}]
    values = [json.dumps(one).encode() for one in (message, *untyped, message) * 60]
    records = records_of(values)
    changes = by_kernel(Kernel(validation), records)["changes"]
    types = list(message["mysqlType"].items())
    typed = [("id", "1"), ("at", "2024-06-10T06:13:20"), ("n", None)]
    sent = [("id", "1"), ("at", "2024-06-10 06:13:20"), ("n", None)]
    assert changes["after"].to_pylist() == [typed, sent, sent, typed] * 60
    assert changes["column_types"].to_pylist() == [types, None, None, types] * 60
    tally = Kernel(validation).audit(records)
    finalize(tally, validation.catalogue)
    assert not [key for key in tally.findings if key.rule.startswith("D11")], "no column was lost"
