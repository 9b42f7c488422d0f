"""Questions: what a message has to show for each difference: which ops and members to try, and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.validate.drift_rulebook import drift_rules
from cdc_contracts.registry.validate.type_places import places_of_types

if TYPE_CHECKING:
    from cdc_contracts.registry.common.findings import Finding
    from cdc_contracts.registry.compat.meaning.contract_facts import FactDifference
    from cdc_contracts.registry.contract.catalogue import Version

Versions = tuple["Version", "Version"]

ANY: Final = frozenset({"*"})
COLUMN: Final = "value"
"""The column that the message of a value form is about."""
_ROWS: Final = ("update", "upsert", "insert", "delete", "snapshot", "update-after", "update-before")
_IMAGE_FIELDS: Final = frozenset({"holds", "rows", "op", "before", "after", "changed", "before_complete", "update_part",
                                  "after_complete", "pair_id"})  # fmt: skip
_COLUMN_FIELDS: Final = frozenset({"before", "after", "invalid"})
_NAMES: Final = frozenset({"tenant", "database", "schema", "table"})
_FIELDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
    "database": _NAMES, "schema": _NAMES, "table": _NAMES, "database_table": _NAMES,
    "event_time": frozenset({"event_time", "event_time_text"}),
    "position": frozenset({"position", "pair_id"}), "transaction": frozenset({"transaction", "pair_id"}),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """Which messages may show a difference, and what in the answers is about it.

    `codes` are values to put at a place; `rules` and `members` say which refusals count, `fields` which members of what
    is decoded. Only the column is altered where there is a `column`: its source type.
    """

    ops: tuple[str, ...]
    targets: tuple[str, ...] = ()
    codes: tuple[tuple[str, Any], ...] = ()
    rules: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()
    fields: frozenset[str] = frozenset()
    column: str | None = None

    def counts(self, finding: Finding) -> bool:
        """Say whether a finding that refuses a message is about the difference."""
        if self.column is not None:
            return finding.path.endswith(f"/{COLUMN}")
        if finding.rule in self.rules or "*" in self.rules:
            return True
        return any(finding.path == one or finding.path.startswith(one + "/") for one in self.members)

    def concerns(self, told: Mapping[str, Any]) -> bool:
        """Say whether something that is decoded differently is about the difference."""
        return bool(told) and ("*" in self.fields or not self.fields.isdisjoint(told))


def ask(difference: FactDifference, old: Version, new: Version) -> Question:
    """Return what a message has to show for a difference between two contracts."""
    return _ASKING.get(difference.key[0], _ask_anything)(difference, (old, new))


def _ask_value(difference: FactDifference, versions: Versions) -> Question:
    name = difference.key[1]
    column = "" if name in ("mapping", "names") else _type_of(name)
    return Question(("insert", "upsert", "snapshot", "update"), fields=_COLUMN_FIELDS, column=column)


def _ask_op(difference: FactDifference, versions: Versions) -> Question:
    code, places = difference.key[1], tuple(dict.fromkeys(version.meaning.envelope.op.at for version in versions))
    codes = tuple((place, code) for place in places)
    return Question(tuple(values_of(difference)), places, codes, frozenset({"D08.op"}), places, ANY)


def _ask_image(difference: FactDifference, versions: Versions) -> Question:
    op, values = difference.key[1], values_of(difference)
    ops: tuple[str, ...] = (op,)
    if op == "container":
        ops, places = _ROWS, [at for version in versions for at in version.meaning.images.pointers()]
    else:
        sides = [side for value in values for side in value.values()]
        places = [side[part] for side in sides for part in ("at", "over", "or") if part in side]
    members = tuple(dict.fromkeys(places))
    return Question(ops, members, members=members, fields=_IMAGE_FIELDS)


def _ask_envelope(difference: FactDifference, versions: Versions) -> Question:
    name, values = difference.key[1], values_of(difference)
    if name == "op":
        flags = [flag for value in values if difference.key[2] == "flags" for flag in value]
        places = tuple(dict.fromkeys([flag["at"] for flag in flags] or values))
        ops = tuple(dict.fromkeys(op for flag in flags for op in (flag["means"], *flag.get("of", ()))))
        codes = tuple((flag["at"], flag["is"]) for flag in flags)
        return Question((*ops, *_ROWS), places, codes, frozenset({"D08.op"}), places, ANY)
    places = _parts(values)
    return Question(_ROWS, places, members=places, fields=_FIELDS.get(name, frozenset({name})))


def _ask_ddl(difference: FactDifference, versions: Versions) -> Question:
    places = _parts(values_of(difference))
    return Question(("ddl",), places, members=places, fields=frozenset({f"ddl_{difference.key[1]}"}))


def _ask_halves(difference: FactDifference, versions: Versions) -> Question:
    return Question(("update-before", "update-after"), fields=frozenset({"pair_id"}))


def _ask_columns(difference: FactDifference, versions: Versions) -> Question:
    result = [value for value in values_of(difference) if isinstance(value, Mapping)]
    meanings = [version.meaning for version in versions]
    places = tuple(at for value in result for at in places_of_types(value, meanings))
    fields = frozenset({"column_types", "types_from", "before", "after"})
    rules = frozenset({"D09.codes-match-types" if difference.key[1] == "codes" else "D09.columns-typed"})
    return Question(_ROWS, places, rules=rules, members=places, fields=fields)


def _ask_rule(difference: FactDifference, versions: Versions) -> Question:
    rule = drift_rules()[difference.key[1]]
    places = rule.places([version.meaning for version in versions])
    return Question((*_ROWS, "ddl"), tuple(dict.fromkeys(places)), rules=frozenset({rule.id}))


def _ask_codes(difference: FactDifference, versions: Versions) -> Question:
    at, codes = difference.key[1], sorted({code for value in values_of(difference) for code in value})
    return Question((*_ROWS, "ddl", "heartbeat"), (at,), tuple((at, code) for code in codes), members=(at,))


def _ask_pattern(difference: FactDifference, versions: Versions) -> Question:
    at = difference.key[1]
    return Question(_ROWS, (at,), rules=frozenset({"D09.position-matches"}), members=(at,))


def _ask_undocumented(difference: FactDifference, versions: Versions) -> Question:
    return Question(("insert", "snapshot"), fields=_COLUMN_FIELDS, column="")


def _ask_anything(difference: FactDifference, versions: Versions) -> Question:
    return Question((*_ROWS, "ddl", "heartbeat"), rules=ANY, fields=ANY)


_ASKING: Final[Mapping[str, Callable[[FactDifference, Versions], Question]]] = MappingProxyType({
    "values": _ask_value, "ops": _ask_op, "images": _ask_image, "envelope": _ask_envelope, "ddl": _ask_ddl,
    "halves": _ask_halves, "columns": _ask_columns, "rules": _ask_rule, "enums": _ask_codes,
    "patterns": _ask_pattern, "undocumented": _ask_undocumented,
})  # fmt: skip


def values_of(difference: FactDifference) -> list[Any]:
    """Return what both sides of a difference say, where they say something."""
    return [fact.value for fact in (difference.old, difference.new) if fact is not None]


def _parts(places: list[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place[part] for place in places for part in ("at", "index", "size") if part in place))


def _type_of(name: str) -> str:
    """Return the source type that a key of `values` is about; empty where it is about values without one."""
    if " without a type" in name:
        return ""
    return name.removesuffix(" that does not exist").replace("any other type", "")


def reachable_ops(version: Version) -> frozenset[str]:
    """Return the canonical ops that messages of a version may have."""
    return frozenset({*version.meaning.ops.values(), *(flag.means for flag in version.meaning.envelope.op.flags)})
