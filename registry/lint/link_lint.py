"""Link lint of what a contract refers to: base, mappings, neighbours in time, errata, and its own members."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.common.contract_references import is_release_or_date, release_order
from cdc_contracts.registry.common.errors import CdcContractsError
from cdc_contracts.registry.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.contract.catalogue import CANONICAL, ENVELOPE, Version
from cdc_contracts.registry.lint.lint_rule import LintFault

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from cdc_contracts.registry.contract.discriminator_model import Test
    from cdc_contracts.registry.contract.document_model import Applies
    from cdc_contracts.registry.contract.model import Meaning
    from cdc_contracts.registry.lint.lint_run import LintRun


def bases_resolve(draft: LintRun) -> Iterator[LintFault]:
    """`based_on` leads to a version, and never round in a circle."""
    for version in draft.versions:
        document = draft.own.get(version.reference)
        if document is None or "based_on" not in document or version.reference in draft.resolved:
            continue
        based_on = document["based_on"]
        observed = str(based_on)
        try:
            base = draft.catalogue.base(based_on, version.reference)
            if base.reference not in draft.own or base.reference not in draft.resolved:
                continue  # its own fault, reported there
        except CdcContractsError as error:
            observed = error.what
        except (TypeError, ValueError):
            observed = f"{based_on}, which is no reference with a number"
        yield LintFault(_contract(version), "SYSTEM/DIALECT@N of a contract", observed, ("based_on",))


def mappings_resolve(draft: LintRun) -> Iterator[LintFault]:
    """The mappings of a contract exist, and the evidence of value forms is what they say."""
    for version, meaning in _meanings(draft):
        names = version.mapping_names()
        parts: tuple[str, ...] = ("values", "mapping")
        for name in names:
            if name not in draft.catalogue.mapping_names() and not _base_has(draft, version, "values"):
                yield LintFault(_contract(version), "a mapping in types/", name, parts)
        known = [draft.mappings[name] for name in names if name in draft.mappings]
        for index, entry in enumerate(meaning.version_evidence):
            if entry.value_form is None or not known:
                continue
            forms = {mapping.form_of(entry.value_form) for mapping in known}
            if entry.is_form not in forms:
                expected = f"{entry.value_form} as {' or '.join(sorted(form or 'no type' for form in forms))}"
                yield LintFault(
                    _contract(version), expected, str(entry.is_form), ("version_evidence", str(index), "is")
                )


def versions_follow_each_other(draft: LintRun) -> Iterator[LintFault]:
    """The ranges of a subject's versions are of one kind, run forward, and leave no hole and no overlap."""
    for subject in draft.catalogue.subjects():
        versions = draft.catalogue.versions(subject)
        known = [(one, draft.meanings[one.reference].applies) for one in versions if one.reference in draft.meanings]
        sound = []
        for version, applies in known:
            faults = list(_broken_range(version, applies))
            yield from (fault for fault in faults if draft.is_under_lint(version))
            if not faults:
                sound.append((version, applies))
        for (earlier, before), (later, after) in pairwise(sound):
            yield from _broken_step(draft, earlier, before, later, after)


def errata_exist(draft: LintRun) -> Iterator[LintFault]:
    """Every erratum that a contract cites stands in errata.yaml."""
    for version in draft.versions:
        provenance = draft.resolved.get(version.reference, {}).get("provenance")
        cited = provenance.get("errata") if isinstance(provenance, dict) else None
        for index, one in enumerate(cited if isinstance(cited, list) else ()):
            if str(one) not in draft.errata and not _base_has(draft, version, "provenance", "errata"):
                parts = ("provenance", "errata", str(index))
                yield LintFault(_contract(version), "an entry of errata.yaml", str(one), parts)


def op_codes_are_mapped(draft: LintRun) -> Iterator[LintFault]:
    """The op map names exactly the codes that the JSON Schema allows."""
    for version, meaning in _meanings(draft):
        schema = draft.sound_schemas.get(version.reference)
        if schema is None:
            continue
        member = member_at(schema, split_pointer(meaning.envelope.op.at))
        allowed = member.get("enum", [member["const"]] if "const" in member else None) if member else None
        if allowed is None or _same_in_base(draft, version, "ops"):
            continue
        codes = [*meaning.ops, *meaning.tolerated_ops]
        for code in allowed:
            if code is not None and code not in codes:
                yield LintFault(_contract(version), f"an op for {code}, which the schema allows", "none", ("ops",))
        for code in codes:
            if code not in allowed:
                yield LintFault(_contract(version), "a code that the schema allows", code, ("ops", code))


def places_are_members(draft: LintRun) -> Iterator[LintFault]:
    """Every place that a contract names is a member of its JSON Schema."""
    for version, meaning in _meanings(draft):
        schema = draft.sound_schemas.get(version.reference)
        if schema is None:
            continue
        base = version.base
        inherited = draft.meanings.get(base.reference) if base is not None else None
        known = set(_places(inherited)) if base is not None and inherited and draft.is_under_lint(base) else set()
        for parts, pointer in _places(meaning):
            if (parts, pointer) not in known and member_at(schema, split_pointer(pointer)) is None:
                yield LintFault(_contract(version), "a member of the schema", pointer, parts)


def member_at(schema: dict[str, Any], parts: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the schema of the member that names lead to; None where a message cannot have it."""
    step: Any = schema
    for part in (None, *parts):
        if part is not None:
            properties = step.get("properties", {})
            step = properties[part] if part in properties else step.get("additionalProperties", True)
        while isinstance(step, dict) and "$ref" in step:
            step = resolve_reference(schema, step["$ref"])
        if step is False:
            return None
        if not isinstance(step, dict):
            step = {}
    found: dict[str, Any] = step
    return found


def resolve_reference(schema: dict[str, Any], reference: str) -> Any:
    """Return what a `$ref` within the file leads to; any value where that is nothing, which has a rule of its own."""
    found = follow(schema, split_pointer(reference.removeprefix("#")))
    return True if found is ABSENT else found


def _meanings(draft: LintRun) -> Iterator[tuple[Version, Meaning]]:
    for version in draft.versions:
        if version.subject != CANONICAL and version.reference in draft.meanings:
            yield version, draft.meanings[version.reference]


def _places(meaning: Meaning) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every pointer of a contract that leads into a message, with where the contract says it."""
    document = meaning.model_dump(by_alias=True, exclude_none=True)
    for section in ("envelope", "images", "ddl", "columns", "values"):
        yield from _pointers(document.get(section), (section,))
    for section in ("enums", "patterns"):
        for pointer in document.get(section, {}):
            yield (section, pointer), pointer
    for index, entry in enumerate(meaning.version_evidence):
        if entry.at is not None:
            yield ("version_evidence", str(index), "at"), entry.at
    for index, test in enumerate(meaning.discriminators):
        for name, pointer in _needed(test):
            yield ("discriminators", str(index), name), pointer


def _pointers(value: Any, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
    for key, below in entries:
        here = (*parts, str(key))
        if isinstance(below, str):
            if key in ("at", "over", "or", "by", "index", "size"):
                yield here, below
        else:
            yield from _pointers(below, here)


def _needed(test: Test) -> Iterator[tuple[str, str]]:
    """Yield the places that have to be there for a test to hold."""
    for name, pointer in (("present", test.present), ("equals", test.equals), ("in", test.within),
                          ("prefix-of", test.prefix_of)):  # fmt: skip
        if pointer is not None:
            yield name, pointer


def _broken_range(version: Version, applies: Applies) -> Iterator[LintFault]:
    bounds = {"since": applies.since, "until": applies.until}
    for name, bound in bounds.items():
        if bound is not None and not is_release_or_date(bound):
            yield LintFault(
                _contract(version), "a date YYYY-MM-DD or a release such as 3.3.0", bound, ("applies", name)
            )
            return
    since, until = applies.since, applies.until
    if since is None or until is None:
        return
    if ("-" in since) != ("-" in until):
        yield LintFault(_contract(version), "two dates or two releases", f"{since} and {until}", ("applies", "until"))
    elif release_order(since) >= release_order(until):
        yield LintFault(_contract(version), f"an end after {since}", until, ("applies", "until"))


def _broken_step(
    draft: LintRun, earlier: Version, before: Applies, later: Version, after: Applies
) -> Iterator[LintFault]:
    if draft.is_under_lint(later):
        if after.since is None:
            yield LintFault(_contract(later), f"since, where {earlier} ends", "none", ("applies",))
        elif before.until is not None and before.until != after.since:
            expected = f"{before.until}, where {earlier} ends"
            yield LintFault(_contract(later), expected, after.since, ("applies", "since"))
    # A contract of another folder cannot be edited with this one; there the later version ends it.
    if draft.is_under_lint(earlier) and after.since is not None and before.until is None:
        yield LintFault(_contract(earlier), f"until {after.since}, where {later} begins", "no end", ("applies",))


def _base_has(draft: LintRun, version: Version, *parts: str) -> bool:
    """Say whether what stands at `parts` comes from a base that is under lint, and is reported there."""
    step: Any = draft.own.get(version.reference, {})
    for part in parts:
        if not isinstance(step, dict) or part not in step:
            return version.base is not None and draft.is_under_lint(version.base)
        step = step[part]
    return False


def _same_in_base(draft: LintRun, version: Version, key: str) -> bool:
    own = version.folder.joinpath(ENVELOPE).is_file()
    return not own and _base_has(draft, version, key)


def _contract(version: Version) -> Traversable:
    return version.folder.joinpath("contract.yaml")
