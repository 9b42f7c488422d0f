"""Catalogue pages: contracts as Markdown, one page per subject: its latest version, and the differences to older ones.

One more page lists the vocabulary of contracts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

from format_evidence import describe_proof
from vocabulary_page import TERMS, vocabulary

from cdc_contracts.registry.authoring.explain.contract_differences import PROSE, compare
from cdc_contracts.registry.authoring.explain.contract_explanations import Explanation, explain
from cdc_contracts.registry.core.contract.catalogue import (
    AVRO_MESSAGE_SCHEMA,
    ENVELOPE,
    MESSAGE_SCHEMA,
    Catalogue,
    Version,
    span,
)
from cdc_contracts.registry.core.contract.column_model import MappingDocument
from cdc_contracts.registry.core.contract.phrases import describe_distinction
from cdc_contracts.registry.core.values import FORMS

INDEX: Final = "README.md"
_NULLS: Final = {"null": "`null`", "default": "the default of the column"}
_NOTE: Final = "<!-- Written by docs/write_catalogue.py from the contracts; a test keeps it up to date. -->"

_RESTS_ON: Final = (
    "A contract rests on what its product says: documents, or source code at a release. Where real runs are named, "
    "these releases wrote changes of a real database, and tests compare what is decoded with what the database held."
)


def catalogue_pages(catalogue: Catalogue) -> dict[str, str]:
    """Return the pages of a catalogue by file name: an index, and one page for each subject."""
    pages = {INDEX: "\n".join(_index(catalogue))}
    for subject in catalogue.subjects():
        pages[page_name(subject)] = "\n".join(_page(catalogue.versions(subject)))
    return pages


def vocabulary_page(catalogue: Catalogue) -> str:
    """Return the page of the whole vocabulary."""
    lines = ["# Vocabulary", "", _NOTE, "", "## Terms of this documentation", "", *table(("Term", "Meaning"), TERMS)]
    lines += [
        "Each table below lists keywords that a `contract.yaml` or a value mapping may use, with the number of contract"
    ]
    lines += ["versions that use them. For keywords with a place, the meaning is shown for an example.", ""]
    for title, entries in vocabulary(catalogue):
        rows = [(f"`{word}`", says, str(count)) for word, says, count in entries]
        lines += [f"## {title}", "", *table(("Keyword", "Meaning", "Contracts"), rows)]
    return "\n".join(lines)


def page_name(subject: str) -> str:
    """Return the file name of a subject's page."""
    return subject.replace("/", "-") + ".md"


def _index(catalogue: Catalogue) -> Iterator[str]:
    yield from ("# The catalogue", "", _NOTE, "", _RESTS_ON, "")
    rows = [
        (
            f"[{subject}]({page_name(subject)})",
            ", ".join(f"@{version.number} {span(version)}" for version in catalogue.versions(subject)),
            catalogue.versions(subject)[-1].meaning.transport,
            describe_proof(catalogue.versions(subject)[-1]),
            describe_distinction(catalogue.versions(subject)),
        )
        for subject in catalogue.subjects()
    ]
    yield from table(("Subject", "Versions", "Sent as", "Rests on", "How to tell versions apart"), rows)


def _page(versions: Sequence[Version]) -> Iterator[str]:
    latest = explain(versions[-1])
    yield from (f"# {versions[-1].subject}", "", _NOTE, "", f"{latest.title}. {latest.description}", "")
    yield from (f"## {latest.reference}", "")
    yield from table(("", ""), latest.facts)
    yield from (_schemas(versions[-1]), "")
    yield from _explained(latest)
    yield from _options(versions[-1])
    for older, newer in zip(reversed(versions[:-1]), reversed(versions[1:]), strict=True):
        yield from (f"## {older.reference}", "", f"What differs from {newer.reference}:", "")
        found = [one for one in compare(older, newer).meaning if one.group != PROSE]
        rows = [(one.group, one.what, _side(one.left), _side(one.right)) for one in found]
        yield from table(("", "", older.reference, newer.reference), rows)
        yield from (_schemas(older), "")


def _schemas(version: Version) -> str:
    folder = f"../../contracts/{version.subject}/v{version.number}"
    names = (MESSAGE_SCHEMA, AVRO_MESSAGE_SCHEMA)
    machine = " and ".join(f"[`{name}`]({folder}/{name})" for name in names)
    short = "/".join(PurePath(str(version.file(ENVELOPE))).parts[-4:])  # its own, or that of the version it is based on
    return f"Machine-readable: {machine}. Members alone, written by hand: [`{ENVELOPE}`](../../contracts/{short})."


def _explained(one: Explanation) -> Iterator[str]:
    members = [(f"`{member.at}`", member.kinds, member.required, member.meaning) for member in one.members]
    yield from _section("Members of a message", ("Member", "Holds", "Required", "Meaning"), members)
    if one.examples:
        yield from ("### One message per operation", "")
        for example in one.examples:
            yield from (f"`{example.op}`:", "", "```json", example.message, "```", "")
    operations = [(f"`{line.code}`", line.op, line.before, line.after) for line in one.operations]
    yield from _section("Operations", ("Code", "Means", "Row before", "Row after"), operations)
    places = [(name, f"`{at}`" if at else "", says) for name, at, says in one.places]
    yield from _section("Where to find each fact", ("Fact", "Member", "Read as"), places)
    yield from _section("What messages leave open", ("Parameter", "Meaning"), one.parameters)
    for mapping in dict.fromkeys(line.mapping for line in one.forms):
        rows = [
            (", ".join(line.types), f"`{line.form}`", f"{line.says} ({line.invalid})" if line.invalid else line.says)
            for line in one.forms
            if line.mapping == mapping
        ]
        title = f"How values are written{', ' + mapping if mapping else ''}"
        yield from _section(title, ("Source type", "Value form", "Description"), rows)
    yield from _section("Lost in messages", ("Values", "What they lose"), one.losses)
    yield from _section(
        "Rules across fields", ("Rule", "Description"), [(f"`{name}`", says) for name, says in one.rules]
    )
    errata = [(e.id, e.decision, f"Text: {e.says} Example: {e.shows} Reason: {e.why}") for e in one.errata]
    yield from _section(
        "Contradictions in the vendor's document", ("Erratum", "Decision", "Contradiction and reason"), errata
    )


def _options(version: Version) -> Iterator[str]:
    """Yield a table for each value mapping: what options of the producer change, and what that looks like."""
    head = ("Option", "Value", "Changes columns of type", "On the wire", "Looks like")
    for name in version.mapping_names():
        rows = list(_option_rows(version.catalogue.mapping(name).document))
        yield from _section(f"What options change, {name}", head, rows)


def _option_rows(mapping: MappingDocument) -> Iterator[tuple[str, ...]]:
    """Yield what each option changes; values of an option that write types alike are one row."""
    for option, values in mapping.options.items():
        alike: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for value, forms in values.items():
            for form, types in forms.items():
                alike.setdefault((types, form), []).append(f"`{value}`")
        for (types, form), under in alike.items():
            yield f"`{option}`", ", ".join(under), ", ".join(types), FORMS[form].says, f"`{FORMS[form].example}`"
    for option, sent in mapping.null_sent_as.items():
        for value, written in sent.items():
            says = f"NULL in a column with a default is written as {_NULLS[written]}"
            yield f"`{option}`", f"`{value}`", "any type", says, ""


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield from (f"### {title}", "")
        yield from table(head, rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty one."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def _side(text: str | None) -> str:
    return "no" if text is None else text
