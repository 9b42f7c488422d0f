"""JSON rules: those of JSON Schema compatibility, and which differences each is about.

A rule is worded from the side that reads: at BACKWARD that is the new version, at FORWARD the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import BREAKING, UNDECIDED
from cdc_contracts.registry.compat.levels import Policy


def _rule(
    number: int, name: str, *texts: str, confluent: str | None = None, severity: str = BREAKING
) -> CompatibilityRule:
    says, action, good, bad = texts
    return CompatibilityRule(f"C{number}", name, severity, says, action, good, bad, confluent)


TYPE_CHANGED: Final = _rule(
    102, "type-changed",
    "The reader takes another kind of value than the writer sends.",
    "Add the new member under a new name and keep the old one, or take both types.",
    '"type": "string" becomes "type": ["string", "integer"]',
    '"type": "string" becomes "type": "integer"',
    confluent="TYPE_CHANGED",
)  # fmt: skip
TYPE_NARROWED: Final = _rule(
    103, "type-narrower",
    "The reader takes only some kinds of the values that the writer sends.",
    "Keep every type that may still be sent; null too.",
    '"type": "integer" becomes "type": "number"',
    '"type": "number" becomes "type": "integer"',
    confluent="TYPE_NARROWED",
)  # fmt: skip
REQUIRED: Final = _rule(
    104, "member-required",
    "The reader asks for a member that the writer may leave out. A default is never filled in by a validator.",
    "Leave the member optional.",
    '"required": ["id"] stays, "note" is added to properties only',
    '"required": ["id"] becomes "required": ["id", "note"]',
    confluent="REQUIRED_ATTRIBUTE_ADDED",
)  # fmt: skip
CONSTRAINED: Final = _rule(
    105, "open-member-constrained",
    "The reader gives a member a schema, and the writer's schema, open to any member, lets it hold anything.",
    'Close the model ("additionalProperties": false) in the version before, or judge by the policy cdc, which takes it'
    " that a producer sends named members only.",
    "a member is added to a closed model",
    "a typed member is added to an open model",
    confluent="PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
)  # fmt: skip
MEMBER_REFUSED: Final = _rule(
    106, "member-refused",
    "The reader's schema is closed and does not name a member that the writer sends.",
    "Keep the member in properties.",
    'the member stays, as "note": true',
    'the member is taken out of a schema with "additionalProperties": false',
    confluent="PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
)  # fmt: skip
OTHERS_REFUSED: Final = _rule(
    107, "other-members-refused",
    "The reader takes fewer members than the writer's schema allows beside those it names.",
    "Keep the schema as open as it was.",
    '"additionalProperties" stays absent',
    '"additionalProperties": false is added',
    confluent="ADDITIONAL_PROPERTIES_REMOVED",
)  # fmt: skip
NOT_LISTED: Final = _rule(
    108, "value-not-listed",
    "The reader's list of values lacks one that the writer sends.",
    "Keep every value that may still be sent; a consumer has to know a new one before it is sent.",
    '"enum": ["a", "b"] becomes ["a", "b", "c"] for the reader',
    '"enum": ["a", "b"] becomes ["a"]',
    confluent="ENUM_ARRAY_NARROWED",
)  # fmt: skip
TEXT: Final = _rule(
    109, "text-narrower",
    "The reader takes fewer texts: a shorter limit, a longer least, another pattern.",
    "Keep the limits at least as wide as they were.",
    '"maxLength": 20 becomes 40',
    '"maxLength": 20 becomes 10',
    confluent="MAX_LENGTH_DECREASED",
)  # fmt: skip
NUMBER: Final = _rule(
    110, "number-narrower",
    "The reader takes fewer numbers: a limit became tighter, or a factor another one.",
    "Keep the limits at least as wide as they were.",
    '"maximum": 99 becomes 999',
    '"maximum": 99 becomes 9',
    confluent="MAXIMUM_DECREASED",
)  # fmt: skip
MEMBER_COUNT: Final = _rule(
    111, "member-count-narrower",
    "The reader takes objects with fewer or with more members only.",
    "Keep the limits at least as wide as they were.",
    '"maxProperties": 5 becomes 9',
    '"maxProperties": 5 becomes 3',
    confluent="MAX_PROPERTIES_DECREASED",
)  # fmt: skip
DEPENDENCY: Final = _rule(
    112, "dependency-added",
    "The reader asks for more where a certain member is there.",
    "Take the dependency back, or publish a new subject.",
    '"dependentRequired": {"card": ["name"]} is taken away',
    '"dependentRequired": {"card": ["name"]} is added',
    confluent="DEPENDENCY_ARRAY_ADDED",
)  # fmt: skip
ELEMENT_COUNT: Final = _rule(
    113, "element-count-narrower",
    "The reader takes shorter or longer arrays only, or distinct elements only, or asks for a certain element.",
    "Keep the limits at least as wide as they were.",
    '"minItems": 1 becomes 0',
    '"minItems": 0 becomes 1',
    confluent="MIN_ITEMS_INCREASED",
)  # fmt: skip
ELEMENTS: Final = _rule(
    114, "elements-narrower",
    "The reader gives elements of an array a schema that those the writer sends need not fit.",
    "Keep the elements as they were.",
    '"items": {"type": "string"} is taken away',
    '"items": {"type": "string"} is added',
    confluent="SCHEMA_ADDED",
)  # fmt: skip
ALTERNATIVE: Final = _rule(
    115, "alternative-missing",
    "The writer sends one of several shapes, and the reader lacks one of them, or cannot tell two of them apart.",
    "Keep every alternative; make those of a oneOf exclude each other.",
    '"anyOf": [A, B] becomes [A, B, C]',
    '"anyOf": [A, B] becomes [A]',
    confluent="SUM_TYPE_NARROWED",
)  # fmt: skip
CONDITION: Final = _rule(
    116, "condition-added",
    "The reader asks for one condition more: by allOf, not, or if.",
    "Take the condition back, or publish a new subject.",
    '"allOf": [A, B] becomes [A]',
    '"allOf": [A] becomes [A, B]',
    confluent="PRODUCT_TYPE_EXTENDED",
)  # fmt: skip
REFUSED: Final = _rule(
    117, "message-refused",
    "The reader refuses messages that the writer may send; no single keyword says so.",
    "Look at the message that is shown, and take what refuses it back.",
    "every message of one version passes the other",
    "two changes that are harmless apart refuse a message together",
)  # fmt: skip
NOT_DECIDED: Final = _rule(
    118, "not-decided",
    "Whether the reader takes all that the writer sends could not be decided. It is not said to be compatible.",
    "Compare the two places by hand, or say the same with simpler keywords.",
    "both versions spell the same condition the same way",
    "a pattern is replaced by another one that may or may not mean the same",
    severity=UNDECIDED,
)  # fmt: skip
REMOVED: Final = _rule(
    119, "member-removed",
    "The new version no longer sends a member that consumers of the old one may read.",
    "Keep the member, or tell every consumer before and publish a new subject.",
    "the member stays, and may be null from now on",
    "an optional member is taken out of properties",
    confluent="PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL",
)  # fmt: skip

JSON_RULES: Final = (
    TYPE_CHANGED, TYPE_NARROWED, REQUIRED, CONSTRAINED, MEMBER_REFUSED, OTHERS_REFUSED, NOT_LISTED, TEXT, NUMBER,
    MEMBER_COUNT, DEPENDENCY, ELEMENT_COUNT, ELEMENTS, ALTERNATIVE, CONDITION, REFUSED, NOT_DECIDED, REMOVED,
)  # fmt: skip

_CONFLUENT: Final[Mapping[CompatibilityRule, str]] = {
    TYPE_CHANGED: "TYPE_CHANGED KEYWORD_CHANGED",
    TYPE_NARROWED: "TYPE_NARROWED",
    REQUIRED: "REQUIRED_ATTRIBUTE_ADDED REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
    " REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
    CONSTRAINED: "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
    " PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    MEMBER_REFUSED: "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    " PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    OTHERS_REFUSED: "ADDITIONAL_PROPERTIES_REMOVED ADDITIONAL_PROPERTIES_NARROWED UNEVALUATED_PROPERTIES_REMOVED"
    " UNEVALUATED_PROPERTIES_NARROWED",
    NOT_LISTED: "ENUM_ARRAY_NARROWED ENUM_ARRAY_CHANGED",
    TEXT: "MAX_LENGTH_ADDED MAX_LENGTH_DECREASED MIN_LENGTH_ADDED MIN_LENGTH_INCREASED PATTERN_ADDED PATTERN_CHANGED",
    NUMBER: "MAXIMUM_ADDED MAXIMUM_DECREASED MINIMUM_ADDED MINIMUM_INCREASED EXCLUSIVE_MAXIMUM_ADDED"
    " EXCLUSIVE_MAXIMUM_DECREASED EXCLUSIVE_MINIMUM_ADDED EXCLUSIVE_MINIMUM_INCREASED MULTIPLE_OF_ADDED"
    " MULTIPLE_OF_EXPANDED MULTIPLE_OF_CHANGED",
    MEMBER_COUNT: "MAX_PROPERTIES_ADDED MAX_PROPERTIES_DECREASED MIN_PROPERTIES_ADDED MIN_PROPERTIES_INCREASED",
    DEPENDENCY: "DEPENDENCY_ARRAY_ADDED DEPENDENCY_ARRAY_EXTENDED DEPENDENCY_ARRAY_CHANGED DEPENDENCY_SCHEMA_ADDED",
    ELEMENT_COUNT: "MAX_ITEMS_ADDED MAX_ITEMS_DECREASED MIN_ITEMS_ADDED MIN_ITEMS_INCREASED UNIQUE_ITEMS_ADDED"
    " MAX_CONTAINS_ADDED MAX_CONTAINS_DECREASED MIN_CONTAINS_ADDED MIN_CONTAINS_INCREASED",
    ELEMENTS: "SCHEMA_ADDED ADDITIONAL_ITEMS_REMOVED ADDITIONAL_ITEMS_NARROWED UNEVALUATED_ITEMS_REMOVED"
    " UNEVALUATED_ITEMS_NARROWED ITEM_ADDED_TO_OPEN_CONTENT_MODEL ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    " ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    ALTERNATIVE: "COMBINED_TYPE_CHANGED SUM_TYPE_NARROWED COMBINED_TYPE_SUBSCHEMAS_CHANGED",
    CONDITION: "PRODUCT_TYPE_EXTENDED NOT_TYPE_EXTENDED",
}
_OWN: Final[Mapping[CompatibilityRule, str]] = {
    TYPE_NARROWED: "TYPE_ADDED",
    REQUIRED: "REQUIRED_NAME_ADDED REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED"
    " REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
    CONSTRAINED: "MEMBER_OF_OPEN_MODEL_CONSTRAINED",
    OTHERS_REFUSED: "PATTERN_PROPERTIES_CHANGED PROPERTY_NAMES_CHANGED",
    ELEMENT_COUNT: "CONTAINS_CHANGED",
    ALTERNATIVE: "ALTERNATIVES_MAY_OVERLAP",
    CONDITION: "CONDITION_CHANGED",
    NOT_DECIDED: "REFERENCE_UNFOLLOWED EVALUATION_CHANGED RECURSION_BROKEN",
}
"""What Confluent's registry passes over, or calls compatible, although a message may be refused."""

RULE_OF: Final[Mapping[str, CompatibilityRule]] = {"PROPERTY_REMOVED": REMOVED} | {
    name: rule for table in (_CONFLUENT, _OWN) for rule, names in table.items() for name in names.split()
}
"""The rule of each difference."""
STRICT: Final = frozenset(name for names in _CONFLUENT.values() for name in names.split())
"""What breaks by Confluent's strict policy."""
LENIENT: Final = STRICT - frozenset({
    "ADDITIONAL_PROPERTIES_REMOVED", "ADDITIONAL_PROPERTIES_NARROWED", "UNEVALUATED_PROPERTIES_REMOVED",
    "UNEVALUATED_PROPERTIES_NARROWED", "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL", "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
})  # fmt: skip
"""What breaks by Confluent's lenient policy."""
HARMFUL: Final = frozenset(RULE_OF) - {"PROPERTY_REMOVED", "KEYWORD_CHANGED"}
"""What may make a reader refuse a message."""

_PARDONED_BY_STRICT: Final = frozenset({
    "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
})  # fmt: skip
_PARDONED_BY_LENIENT: Final = _PARDONED_BY_STRICT | (STRICT - LENIENT) | {"MEMBER_OF_OPEN_MODEL_CONSTRAINED"}

COUNTED: Final[Mapping[Policy, frozenset[str]]] = {
    Policy.CONFLUENT_STRICT: STRICT,
    Policy.CONFLUENT_LENIENT: LENIENT,
    Policy.CDC: HARMFUL,
}
"""The differences that break by each policy."""
PARDONED: Final[Mapping[Policy, frozenset[str]]] = {
    Policy.CONFLUENT_STRICT: _PARDONED_BY_STRICT,
    Policy.CONFLUENT_LENIENT: _PARDONED_BY_LENIENT,
    Policy.CDC: frozenset(),
}
"""The differences that a policy lets pass on purpose, although a message may be refused."""


def confluent_name_of(name: str) -> str | None:
    """Return what Confluent's registry calls a difference; None where it has no name for it."""
    if name == "KEYWORD_CHANGED":
        return "TYPE_CHANGED"
    if name == "PROPERTY_REMOVED":
        return "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL"
    return name if name in STRICT or name in _PARDONED_BY_STRICT else None
