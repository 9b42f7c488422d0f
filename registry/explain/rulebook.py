"""Rulebook: every rule that a finding may name, by its stable id."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.common.findings import CLASSES
from cdc_contracts.registry.lint.lint_rulebook import lint_rules
from cdc_contracts.registry.validate.drift_rule import CROSS_FIELD
from cdc_contracts.registry.validate.drift_rulebook import drift_rules

DRIFT: Final = "drift"
LINT: Final = "lint"
JSON_SCHEMA: Final = "json-schema"
AVRO: Final = "avro"
MEANING: Final = "meaning"
PUBLICATION: Final = "publication"
TABLE: Final = "table"
TABLE_VERSIONS: Final = "table-versions"


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """One rule as it is listed: what it says and why, the severity of a breach, what to do, and examples."""

    id: str
    name: str
    family: str
    severity: str
    says: str
    action: str
    good: str
    bad: str
    why: str = ""
    confluent: str | None = None


def rules() -> tuple[RuleEntry, ...]:
    """Return every rule: the drift classes, the rules across fields, those of lint, and those of compatibility."""
    drift = [
        RuleEntry(one.id, one.name, DRIFT, one.severity, one.says, one.action, one.good, one.bad)
        for one in CLASSES.values()
    ]
    hint = "Mend the file that the finding names, or ignore it there for a while: see L26."
    lint = [
        RuleEntry(
            one.id,
            one.name,
            TABLE if one.is_of_tables else LINT,
            one.severity,
            one.says,
            hint,
            one.good,
            one.bad,
            one.why,
        )
        for one in lint_rules()
    ]
    return (*drift, *cross_field_rules(), *lint, *_compatibility_rules())


def cross_field_rules() -> tuple[RuleEntry, ...]:
    """Return the rules across fields."""
    return tuple(
        RuleEntry(one.id, one.name, CROSS_FIELD, one.severity, one.says, one.action, one.good, one.bad)
        for one in drift_rules().values()
    )


def _compatibility_rules() -> Iterator[RuleEntry]:
    """Yield the rules of compatibility; their tables stand beside what compares, which takes a while to import."""
    from cdc_contracts.registry.compat.avro.avro_rules import AVRO_RULES
    from cdc_contracts.registry.compat.json_schema.json_rules import JSON_RULES
    from cdc_contracts.registry.compat.meaning.meaning_rules import MEANING_RULES
    from cdc_contracts.registry.compat.publication_rules import PUBLICATION_RULES
    from cdc_contracts.registry.compat.tables.table_rules import TABLE_COMPATIBILITY_RULES
    from cdc_contracts.registry.compat.version_comparison import TYPE_CHANGED
    from cdc_contracts.registry.sync.published_ids import ID_CHANGED

    tables = {
        JSON_SCHEMA: (TYPE_CHANGED, *JSON_RULES),
        AVRO: AVRO_RULES,
        MEANING: MEANING_RULES,
        PUBLICATION: (*PUBLICATION_RULES, ID_CHANGED),
        TABLE_VERSIONS: TABLE_COMPATIBILITY_RULES,
    }
    for family, table in tables.items():
        for one in table:
            texts = (one.severity, one.says, one.action, one.good, one.bad)
            yield RuleEntry(one.id, one.name, family, *texts, confluent=one.confluent)


def find_rule(text: str) -> RuleEntry:
    """Return the rule of an id (`D07`, `L03`, `D09.columns-typed`), a name, or a rule id of a finding (`D07.base64`).

    Raises UsageError where there is none, naming the nearest.
    """
    known = {one.id.lower(): one for one in rules()} | {one.name: one for one in reversed(rules())}
    wanted = (text.split() or [""])[0].lower()
    found = known.get(wanted)
    if found is None and "." in wanted and not wanted.startswith("d09."):
        found = known.get(wanted.split(".")[0])
    if found is None:
        near = difflib.get_close_matches(wanted, known, 1)
        hint = f"did you mean {known[near[0]].id} {known[near[0]].name}?" if near else "`cdc-contracts rules` lists all"
        raise UsageError(f"there is no rule `{text}`", hint=hint)
    return found
