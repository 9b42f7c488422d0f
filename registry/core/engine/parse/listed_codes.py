"""Listed codes: the values that versions of a subject list for discrete members, of which no others differ."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from cdc_contracts.registry.core.contract.discriminators import valued_tests
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.engine.layouts.listed_values import ListedValues, list_kinds, list_values


def list_members(
    meanings: Sequence[Meaning], codes: Mapping[str, Collection[Any]], exact: Collection[str]
) -> dict[str, ListedValues]:
    """Return what versions ask of members, by place; `codes` are those of schemas.

    Left out are places of which something reads the `exact` value.
    """
    found = {at: list_values(listed) for at, listed in codes.items()}
    for meaning in meanings:
        for at, listed in _listed_by(meaning):
            found[at] = found[at].joined(listed) if at in found else listed
    return {at: listed for at, listed in found.items() if at not in exact}


def _listed_by(meaning: Meaning) -> Iterator[tuple[str, ListedValues]]:
    envelope = meaning.envelope
    yield envelope.op.at, list_values([*meaning.ops, *meaning.tolerated_ops])
    tests = [*meaning.discriminators, *(test for flag in envelope.op.flags for test in flag.when)]
    for test in valued_tests(tests):
        yield test.equals or test.within or test.outside or "", list_values([*(test.values or ()), test.value])
    for flag in envelope.op.flags:
        if flag.at is not None:
            yield flag.at, list_values([flag.equals])
    for at, codes in meaning.enums.items():
        yield at, list_values(codes)
    source = envelope.source_kind
    if source is not None and source.at is not None:
        yield source.at, list_kinds([*(source.kinds or ()), *source.excluded_kinds])
    if meaning.values.kind_at is not None and not isinstance(meaning.values.mapping, str):
        yield meaning.values.kind_at, list_kinds(meaning.values.mapping.map)
        absent = meaning.images.absent
        yield meaning.values.kind_at, list_values(() if absent is None else absent.nulls)
