"""Subject pages: the list of subjects that the caller may read, and one subject with its versions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.html_markup import Markup, element, join, name_of
from cdc_contracts.registry.server.store.registry_records import StoredSchema, StoredVersion
from cdc_contracts.registry.server.store.subjects import Subject
from cdc_contracts.registry.server.ui.page_frame import link, listing, section
from cdc_contracts.registry.server.ui.text_differences import pretty, whole_text

PAGE: Final = 100


def subject_list(
    versions: Sequence[tuple[StoredVersion, str]], found: int, asked: str, offset: int
) -> Iterator[Markup | None]:
    """Yield the filter, a page of subjects with type and latest version, and links to the other pages."""
    yield element(
        "form",
        element("label", "Name contains", element("input", name="find", value=asked, type="search", maxlength=200)),
        element("button", "Find", type="submit"),
        method="get",
        class_="filter",
        role="search",
    )
    rows = [
        (
            element("a", name_of(str(one.subject)), href=link("/subject", name=str(one.subject))),
            str(one.version),
            kind,
            when(one.registered_at),
        )
        for one, kind in versions
    ]
    if not rows:
        yield element(
            "p",
            f"No subject name contains “{visible(asked)}”." if asked else "There are no subjects yet.",
            class_="none",
        )
    yield listing(("subject", "latest version", "type", "registered"), rows)
    ways = [("previous", offset - PAGE)] if offset > 0 else []
    ways += [("next", offset + PAGE)] if offset + PAGE < found else []
    if ways:
        shown = f"{offset + 1:,} to {min(offset + PAGE, found):,} of {found:,}"
        links = [element("a", name, href=link("", find=asked, offset=max(to, 0))) for name, to in ways]
        yield element("p", shown, *links, class_="pages")


def subject_sections(
    subject: Subject,
    shown: StoredVersion,
    schema: StoredSchema,
    versions: Sequence[StoredVersion],
    config: Mapping[str, Any],
) -> Iterator[Markup | None]:
    """Yield the sections about one version of a subject."""
    content = schema.content
    facts = [
        ("Version", str(shown.version)), ("ID", str(schema.id)), ("Type", content.type), ("GUID", content.guid),
        ("Registered", when(shown.registered_at)), *((name, str(value)) for name, value in config.items()),
    ]  # fmt: skip
    facts += [("Refers to", f"{one.name}: {one.subject} version {one.version}") for one in content.references]
    entries = [part for name, text in facts if text for part in (element("dt", name), element("dd", text))]
    yield section("Facts", element("dl", *entries, class_="facts"))
    yield section("Metadata", listing(("name", "value"), metadata_rows(content.metadata)))
    yield section("Versions", _steps(subject, shown, versions))
    yield section("Schema", whole_text(lines_of(content.text)))


def metadata_rows(metadata: Mapping[str, Any] | None) -> list[tuple[Markup, str]]:
    """Return the properties and tags of a schema as rows; the values of sensitive properties are not shown."""
    known = metadata or {}
    sensitive = frozenset(known.get("sensitive") or ())
    rows = [
        (name_of(name), "(sensitive)" if name in sensitive else visible(str(value)))
        for name, value in sorted((known.get("properties") or {}).items())
    ]
    tags = sorted((known.get("tags") or {}).items())
    return rows + [(join(["tags of ", name_of(path)]), visible(", ".join(map(str, names)))) for path, names in tags]


def lines_of(text: str) -> list[str]:
    """Return the lines of a schema, pretty-printed."""
    try:
        return pretty(json.loads(text))
    except (ValueError, RecursionError):
        return text.split("\n")


def when(milliseconds: int) -> str:
    """Return a time of registration; empty for built-in subjects."""
    if not milliseconds:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _steps(subject: Subject, shown: StoredVersion, versions: Sequence[StoredVersion]) -> Markup | None:
    rows = []
    for before, one in zip([None, *versions], versions, strict=False):
        own = one.version == shown.version
        name = join([f"version {one.version}", " (this one)" if own else None])
        here = name if own else element("a", name, href=link("/subject", name=str(subject), version=one.version))
        beside = _beside(subject, before, one) if before else ""
        rows.append((here, str(one.id), when(one.registered_at), beside))
    return listing(("version", "ID", "registered", "changes"), list(reversed(rows)))


def _beside(subject: Subject, old: StoredVersion, new: StoredVersion) -> Markup:
    href = link("/compare", subject=str(subject), old=old.version, new=new.version)
    return element("a", f"compared with version {old.version}", href=href)
