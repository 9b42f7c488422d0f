"""Images section: where rows are before and after a change, how an image is written, what joins split updates."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    IMAGE_FIELDS,
    NEW_VERSION,
    ROWS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    always,
    values_of,
)
from cdc_contracts.registry.core.contract.image_model import HOW_WRITTEN
from cdc_contracts.registry.core.contract.phrases import describe_absent, describe_side

IMAGE_PLACE: Final = CompatibilityRule(
    id="C320", name="image-place", severity=BREAKING,
    says="The row image of an op is in another place, or is completed differently. A reader of the other version "
    "takes the before image for the after image, or finds none, without any error.",
    action=NEW_VERSION + " Decode every range with the version it was written in.",
    good="delete: {before: {at: /old}} in both", bad="delete: {before: {at: /old}}, then {before: {at: /data}}",
)  # fmt: skip

IMAGE_CONTAINER: Final = CompatibilityRule(
    id="C321", name="image-container", severity=BREAKING,
    says="Images have another container: an object, a list of one row, a list of rows, values, or JSON text.",
    action=NEW_VERSION,
    good="container: list-of-rows in both", bad="container: list-of-one, then list-of-rows",
)  # fmt: skip

SPLIT_UPDATE: Final = CompatibilityRule(
    id="C322", name="split-update", severity=BREAKING,
    says="The key that joins the two halves of an update differs: unrelated halves are joined, or none are.",
    action=NEW_VERSION,
    good="pair_by: [position, table] in both", bad="pair_by: [position, table], then [transaction]",
)  # fmt: skip


def list_facts(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield the container, and the sides of each op."""
    for name, value in section.items():
        if name in HOW_WRITTEN:
            yield (name,), ContractFact(value, value)
        elif name == "absent":
            yield (name,), ContractFact(value, "; ".join(f"{what}: {says}" for what, says in describe_absent(value)))
        else:
            yield (name,), ContractFact(value, "; ".join(f"{side}: {describe_side(at)}" for side, at in value.items()))


def rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> CompatibilityRule:
    """Return whether images are written otherwise, or are elsewhere."""
    return IMAGE_CONTAINER if key[1] in HOW_WRITTEN else IMAGE_PLACE


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages of the op, with its images."""
    op, values = difference.key[1], values_of(difference)
    ops: tuple[str, ...] = (op,)
    if op in (*HOW_WRITTEN, "absent"):
        ops, places = ROWS, [at for version in versions for at in version.meaning.images.pointers()]
    else:
        sides = [side for value in values for side in value.values()]
        places = [side[part] for side in sides for part in ("at", "completed_from", "or") if part in side]
    members = tuple(dict.fromkeys(places))
    return Question(ops, members, members=members, fields=IMAGE_FIELDS)


def list_split_update_facts(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield by what they are joined."""
    yield (), ContractFact(section, f"joined by {', '.join(section['pair_by'])}")


def ask_split_update(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages of split updates."""
    return Question(("update-before", "update-after"), fields=frozenset({"pair_id"}))


SECTION = ContractSection(name="images", listed_at=5, list_facts=list_facts, rule_of=rule_of, ask=ask)
SPLIT_UPDATE_SECTION = ContractSection(
    name="split_update",
    listed_at=6,
    list_facts=list_split_update_facts,
    rule_of=always(SPLIT_UPDATE),
    ask=ask_split_update,
)
