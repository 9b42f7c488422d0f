"""Conditions: JSON Schema conditions for messages of a version with a canonical op or a value mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.envelope_model import OpFlag
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.schema.message_schemas.clauses import Clause, all_of, any_of, negate, one_of, within


@dataclass(frozen=True, slots=True)
class MappingCondition:
    """The mappings of which one holds for the messages of a condition; an empty condition holds for all."""

    condition: Clause
    mappings: tuple[ValueMapping, ...]


def codes_of(meaning: Meaning, op: str) -> list[str]:
    """Return the op codes that mean a canonical op where no flag decides."""
    return [code for code, mapped in meaning.ops.items() if mapped == op]


def op_is(meaning: Meaning, ops: Sequence[str]) -> dict[str, object]:
    """Return the condition that matches the messages of some canonical ops. Flags decide first, as in reading."""
    flags = meaning.envelope.op.flags
    ways = [
        all_of([_flag_holds(meaning, flag), *(negate(_flag_holds(meaning, one)) for one in flags[:number])])
        for number, flag in enumerate(flags)
        if flag.means in ops
    ]
    over_codes = [flag for flag in flags if not flag.replaces_code_at(meaning.envelope.op.at)]
    decided = {op for flag in over_codes for op in _ops_under(meaning, flag)}
    for deciding in (False, True):
        codes = [code for op in ops for code in codes_of(meaning, op) if (op in decided) == deciding]
        if codes:
            no_flag = [negate(_flag_holds(meaning, flag)) for flag in over_codes] if deciding else []
            ways.append(all_of([within(meaning.envelope.op.at, one_of(codes)), *no_flag]))
    return any_of(ways) if ways else {"not": {}}


def _ops_under(meaning: Meaning, flag: OpFlag) -> Iterator[str]:
    """Yield the canonical ops of the codes that a flag may override."""
    codes = flag.codes_at(meaning.envelope.op.at)
    yield from flag.of or (op for code, op in meaning.ops.items() if codes is None or code in codes)


def op_holds_rows(meaning: Meaning) -> dict[str, object]:
    """Return the condition that matches messages with rows."""
    return op_is(meaning, ROW_OPS)


def op_is_known(meaning: Meaning) -> dict[str, object]:
    """Return the schema that rejects unknown op codes, unless a flag decides whatever the code is."""
    free = [_flag_holds(meaning, flag) for flag in meaning.envelope.op.flags if flag.of is None]
    may_be_absent = not any(flag.when for flag in meaning.envelope.op.flags)
    known = within(meaning.envelope.op.at, one_of(list(meaning.ops)), required=not may_be_absent)
    return any_of([*free, known])


def mapping_choices(version: Version) -> Iterator[MappingCondition]:
    """Yield the value mappings of a version with the messages they apply to."""
    choice = version.meaning.values.mapping
    named = version.catalogue.mapping
    if isinstance(choice, str):
        yield MappingCondition({}, (named(choice),))
        return
    every = tuple(named(name) for name in version.mapping_names())
    if choice.by is None or not choice.map:
        yield MappingCondition({}, every)
        return
    kinds = {kind: within(choice.by, {"type": "string", "pattern": _kind_pattern(kind)}) for kind in choice.map}
    for name in dict.fromkeys(choice.map.values()):
        yield MappingCondition(any_of(kinds[kind] for kind in choice.map if choice.map[kind] == name), (named(name),))
    others = every if choice.otherwise == "parameter" else (named(choice.otherwise),)
    yield MappingCondition(negate(any_of(kinds.values())), others)


def _flag_holds(meaning: Meaning, flag: OpFlag) -> dict[str, object]:
    if flag.at is None:
        return all_of(map(test_holds, flag.when))
    holds = within(flag.at, {"const": flag.equals})
    if flag.of is None:
        return holds
    codes = [code for op in flag.of for code in codes_of(meaning, op)]
    return all_of([within(meaning.envelope.op.at, one_of(codes)), holds])


def test_holds(test: Test) -> dict[str, object]:
    """Return the condition that matches the messages for which a test of members holds."""
    if test.any is not None:
        return any_of(map(test_holds, test.any))
    if test.present is not None:
        return within(test.present, negate({"type": "null"}))
    if test.absent is not None:
        return negate(within(test.absent, {}))
    if test.unset is not None:
        return negate(within(test.unset, negate({"type": "null"})))
    if test.alone is not None:
        *above, name = split_pointer(test.alone)
        only = within(join_pointer(name), negate({"type": "null"})) | {"type": "object", "maxProperties": 1}
        return within(join_pointer(*above), only)
    if test.equals is not None:
        return within(test.equals, {"const": test.value})
    if test.within is not None:
        return within(test.within, one_of(test.values or ()))
    return negate(within(test.outside or "", one_of(test.values or ())))


def _kind_pattern(kind: str) -> str:
    """Return the pattern of the names of a kind of source database: case does not count, nor `_` for a space."""
    return f"^{''.join('[ _]' if letter in ' _' else any_case(letter) for letter in kind)}$"


def any_case(letter: str) -> str:
    """Return the pattern of a letter in either case; any other character matches itself."""
    return f"[{letter.upper()}{letter.lower()}]" if letter.isalpha() else re.escape(letter)
