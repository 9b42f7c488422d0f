"""Bytes changed by chance: verdict, findings, rows and quarantined bytes by the fast path are those of the reference.

CDC_CONTRACTS_BYTES=all validates many times as many: more than 20,000, some 700 of each version.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable

import pytest
from output_rows import by_kernel, judged_by_reference, records_of, reference_rows, unlike_rows
from topics import CATALOGUE, WITH_TABLES, rendered, samples

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.validate.verdicts import Verdict

LONG = os.environ.get("CDC_CONTRACTS_BYTES") == "all"
TOTAL = 700 if LONG else 32
"""How many messages of each version are changed."""
BATCH = 35
VERSIONS = list(CATALOGUE.all_versions())
TERMS = ReadingOptions(tables=WITH_TABLES.tables, parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
NOT_UTF8 = (
    b"\xff", b"\x80", b"\xc0\x80", b"\xc3", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82",
    b"\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\x00", b"\xef\xbb\xbf",
)  # fmt: skip
NUMBERS = (
    b"9" * 40, b"9" * 4_097, b"9" * 5_000, b"-0", b"-", b"01", b"1.", b".5", b"1e5", b"1E400", b"1e-400", b"1e99999999999",
    b"0." + b"0" * 4_200 + b"1", b"18446744073709551616", b"-9223372036854775809", b"1" + b"0" * 400, b"NaN", b"1_000",
)  # fmt: skip
TOKENS = (b"null", b"true", b'""', b"[]", b"{}", b'"x"', b"1.0", b"[" * 126 + b"]" * 126, b"[" * 140 + b"]" * 140,
          b'{"a":' * 140 + b"1" + b"}" * 140, b"[" * 1_500 + b"]" * 1_500, b'"\\u00e9"', b'[null,{"a":[1]}]')  # fmt: skip
LONGS = (0, 1, -1, 2, 63, 64, -64, 127, 128, 8_191, 2**31, -(2**31), 2**40, 2**62, -(2**63))
STRING = re.compile(rb'"(?:[^"\\\\]|\\\\.)*+"', re.DOTALL)
NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
MEMBER = re.compile(rb'("(?:[^"\\\\]|\\\\.)*+")\s*:\s*("(?:[^"\\\\]|\\\\.)*+"|[-0-9.eE+]+|true|false|null|\[\]|\{\})')

Mutation = Callable[[random.Random, bytes, bytes], bytes]


def flip(draw: random.Random, value: bytes, _: bytes) -> bytes:
    changed = bytearray(value)
    for _ in range(draw.choice((1, 1, 1, 2, 8))):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def overwrite(draw: random.Random, value: bytes, _: bytes) -> bytes:
    at = draw.randrange(len(value))
    return value[:at] + bytes([draw.randrange(256)]) + value[at + draw.choice((0, 1, 1)) :]


def cut(draw: random.Random, value: bytes, _: bytes) -> bytes:
    return value[: draw.randrange(len(value))]


def leave_out(draw: random.Random, value: bytes, _: bytes) -> bytes:
    start = draw.randrange(len(value))
    return value[:start] + value[start + draw.choice((1, 2, 4, 16, 64)) :]


def repeat(draw: random.Random, value: bytes, _: bytes) -> bytes:
    start = draw.randrange(len(value))
    end = start + draw.choice((1, 2, 8, 40))
    return value[:end] + value[start:]


def splice(draw: random.Random, value: bytes, other: bytes) -> bytes:
    return value[: draw.randrange(len(value))] + other[draw.randrange(len(other)) :]


def double_member(draw: random.Random, value: bytes, other: bytes) -> bytes:
    """A member twice, with another value before or behind the one it has: bad bytes, deep, long, or of another kind."""
    members = list(MEMBER.finditer(value))
    if not members:
        return repeat(draw, value, other)
    member = draw.choice(members)
    text = member[2][:-1] + draw.choice(NOT_UTF8) + b'"' if member[2].endswith(b'"') else draw.choice(TOKENS)
    twin = member[1] + b":" + draw.choice((text, draw.choice(TOKENS), draw.choice(NUMBERS), member[2]))
    if draw.random() < 0.5:
        return value[: member.start()] + twin + b"," + value[member.start() :]
    return value[: member.end()] + b"," + twin + value[member.end() :]


def spoil_text(draw: random.Random, value: bytes, other: bytes) -> bytes:
    """Bytes that are not UTF-8, half characters and NULs, in a text, a name or between."""
    texts = list(STRING.finditer(value))
    at = draw.randrange(len(value)) if not texts else draw.randrange(*draw.choice(texts).span()) + 1
    return value[:at] + draw.choice(NOT_UTF8) + value[at:]


def other_number(draw: random.Random, value: bytes, other: bytes) -> bytes:
    numbers = list(NUMBER.finditer(value))
    if not numbers:
        return overwrite(draw, value, other)
    number = draw.choice(numbers)
    return value[: number.start()] + draw.choice(NUMBERS) + value[number.end() :]


def other_token(draw: random.Random, value: bytes, other: bytes) -> bytes:
    members = list(MEMBER.finditer(value))
    if not members:
        return splice(draw, value, other)
    member = draw.choice(members)
    return value[: member.start(2)] + draw.choice(TOKENS) + value[member.end(2) :]


def other_length(draw: random.Random, value: bytes, _: bytes) -> bytes:
    """Another Avro length, count or branch somewhere: too long, negative, beyond 64 bits or never ending."""
    at = draw.randrange(len(value))
    number = draw.choice(LONGS)
    zigzag, reported = (number << 1) ^ (number >> 63), bytearray()
    while zigzag > 127:
        reported.append(zigzag & 127 | 128)
        zigzag >>= 7
    written = draw.choice((bytes([*reported, zigzag]), b"\xff" * 11, b"\x80" * 9 + b"\x00", b"\xff" * 9 + b"\x01"))
    return value[:at] + written + value[at + draw.choice((0, 1, 1)) :]


JSON: tuple[Mutation, ...] = (
    flip, overwrite, cut, leave_out, repeat, splice, double_member, double_member, spoil_text, other_number, other_token,
)  # fmt: skip
AVRO: tuple[Mutation, ...] = (
    flip,
    flip,
    overwrite,
    cut,
    leave_out,
    repeat,
    splice,
    spoil_text,
    other_length,
    other_length,
)


def mutants(version, draw: random.Random) -> list[bytes]:
    good = [value for value in samples(version) if value] + rendered(
        version.reference, 30, seed=3, controls=5, reading_options=TERMS
    )
    kinds = AVRO if version.meaning.transport == "avro" else JSON
    return [draw.choice(kinds)(draw, draw.choice(good), draw.choice(good)) for _ in range(TOTAL)]


def said(verdict: Verdict) -> tuple[object, ...]:
    findings = [
        (one.rule, one.severity, one.path, one.expected, "" if one.name == "value-form" else one.observed)
        for one in verdict.findings
    ]
    return (
        verdict.outcome, str(verdict.version), [str(one) for one in verdict.fits], verdict.undecided, verdict.differs,
        findings,
    )  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_paths_say_and_write_the_same_of_changed_bytes(version, part, monkeypatch):
    """Every message goes through the native part, if there is one; those of a third of the versions also without it."""
    draw = random.Random(version.reference)
    settings = ("eager", "off") if LONG or VERSIONS.index(version) % 3 == 0 else ("eager",)
    values = part(mutants(version, draw), 2)
    found = []
    for declared in part((version.subject, version.reference), 2):
        validation = open_validation(CATALOGUE, declared, TERMS)
        kernels = {}
        for setting in settings:
            monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
            kernels[setting] = Kernel(validation)
        for start in range(0, len(values), BATCH):
            records = records_of(values[start : start + BATCH])
            validated = judged_by_reference(validation, records)
            for setting, kernel in kernels.items():
                monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
                found += unlike_rows(validation, by_kernel(kernel, records), reference_rows(validated))
                found += unlike_verdicts(kernel, records, [one.verdict for _, one in validated])
        scanner = kernels["eager"]._validator._sorter._scanner
        assert scanner._plans or not scanner.works, "nothing was scanned"
    assert not found, f"{len(found)} disagreements\n" + "\n".join(found[:8])


def unlike_verdicts(kernel: Kernel, records, expected: list[Verdict]) -> list[str]:
    (_, batch_result), *others = kernel.batch_results(records)
    assert not others
    verdicts = {number: validated.verdict for number, validated in batch_result.alone}
    for group_result in batch_result.group_results:
        verdicts |= dict.fromkeys(group_result.record_group.numbers.tolist(), group_result.verdict)
    assert sorted(verdicts) == list(range(records.num_rows))
    return [
        f"{kernel.validation.declared}: {said(verdicts[number])}, not {said(wanted)}, of "
        f"{records.column('value')[number].as_py()!r:.2000}"
        for number, wanted in enumerate(expected)
        if said(verdicts[number]) != said(wanted)
    ]
