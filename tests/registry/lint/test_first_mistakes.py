"""What lint says of the mistakes of a first contract: the key, what was expected, and an example."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cdc_contracts.registry.authoring.lint import lint, lint_input
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Catalogue

HERE = Path(__file__).parent
SHIPPED = Path(__file__).parents[3] / "contracts"
CONTRACT, MAPPING = "acme/plain/v1/contract.yaml", "acme/types/acme.yaml"


@pytest.fixture
def contracts(tmp_path, monkeypatch):
    system = CANONICAL.partition("/")[0]
    shutil.copytree(SHIPPED / system, tmp_path / "shipped" / system)
    monkeypatch.setattr(lint_input, "shipped_catalogue", lambda: Catalogue([tmp_path / "shipped"]))
    shutil.copytree(HERE / "contracts", tmp_path / "contracts")
    shutil.rmtree(tmp_path / "contracts/acme/plain/v2")
    return tmp_path / "contracts"


def told_of(contracts, rule=None):
    """Return the first finding, or the first of a rule, as it is printed, without its place."""
    first = next(one for one in lint([contracts]).findings if rule in {None, one.rule})
    return f"{first.rule} {first.path}: expected {first.expected}; found {first.observed}"


@pytest.mark.parametrize("deep", [600, 100_000])  # Python follows the first, and what walks through it does not
@pytest.mark.parametrize("name", ["envelope.schema.json", "envelope.avsc", "samples/{first}.change.json"])
def test_a_json_file_that_is_nested_too_deeply_is_named(contracts, name, deep):
    folder = contracts / "acme/plain/v1"
    first = min(folder.glob("samples/*.change.json")).name.removesuffix(".change.json")
    (folder / name.format(first=first)).write_text("[" * deep + "]" * deep)
    assert told_of(contracts) == "L01 : expected one JSON document; found nested deeper than 128"


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (CONTRACT, "counted_from: product-version", "counted_from: release",
         ("L02 /applies/counted_from: expected one of project-created, product-version, document-edition, "
         "instance-created-or-restarted; found release")),
        (CONTRACT, ", counted_from: product-version", "",
         "L02 /applies/counted_from: expected the key `counted_from`, as in `counted_from: product-version`; found no such key"),
        (CONTRACT, "  event_time:", "  evnt_time:",
         ("L02 /envelope/evnt_time: expected a known key (do you mean `event_time`?): checkpoint, database, database_table, "
         "event_time, op, position, primary_key, primary_key_values, process_time, schema, source_kind, source_position, "
         "table, transaction; found evnt_time")),
        (CONTRACT, "op: {at: /kind}", "op: /kind",
         "L02 /envelope/op: expected a mapping, as in `op: {at: /type}`; its keys are at, flags; found /kind"),
        (CONTRACT, "form: epoch-millis", "form: epoch-milis",
         ("L02 /envelope/event_time/form: expected one of epoch-millis, epoch-seconds, epoch-seconds-text, "
         "epoch-millis-list-last, iso-local, iso-local-or-utc (do you mean epoch-millis?); found epoch-milis")),
        (CONTRACT, "{at: /when", "{at: when",
         "L02 /envelope/event_time/at: expected a JSON Pointer, which begins with /, as in `at: /type`; found when"),
        (CONTRACT, "types: {at: /types, as: name-to-type}", "types: /types",
         ("L02 /columns/types: expected a mapping, as in `types: {at: /types, as: name-to-type}`; its keys are as, at, bare, "
         "in_image, name, table, type, or none; found /types")),
        (CONTRACT, "{mapping: acme}", "{mapping: acmee}",
         "L07 /values/mapping: expected the name of a file in types/, such as acme, acme-two; found acmee"),
        (MAPPING, "integer-number:", "integer-numbers:",
         ("L03 /forms/integer-numbers: expected a value form, such as integer-number, bit-number, year-number; "
         "found integer-numbers")),
    ],
    ids=lambda given: given if isinstance(given, str) and given.startswith("L") else "",
)  # fmt: skip
def test_a_mistake_in_a_document_names_the_key_and_shows_how_it_is_written(file, old, new, says, contracts):
    text = (contracts / file).read_text()
    assert old in text
    (contracts / file).write_text(text.replace(old, new, 1))
    assert told_of(contracts) == says


def test_a_missing_file_of_a_sample_or_schema_is_reported_with_its_content_and_what_writes_it(contracts):
    folder = contracts / "acme/plain/v1"
    (folder / "samples/add.change.json").rename(folder / "add.kept")
    assert told_of(contracts, "L05").startswith("L05 : expected a document of a contract")
    kept = (folder / "add.kept").read_text()
    (folder / "add.kept").unlink()
    assert told_of(contracts, "L16") == (
        "L16 : expected add.change.json beside it, a list of its row changes ([] if it has none), as in "
        '`[{"op": "insert", "after": {"id": "1"}, …}]`; in drift/ add.findings.json; found one half only'
    )
    (folder / "samples/add.change.json").write_text('{"op": "insert"}')
    assert told_of(contracts, "L18") == (
        'L18 : expected a list with an object for each row change, as in `[{"op": "insert", "after": {"id": "1"}, …}]`; '
        "found {'op': 'insert'}, for 1 of them"
    )
    (folder / "samples/add.change.json").write_text(kept)
    (folder / "envelope.avsc").unlink()
    assert "`contract new` drafts it; `schema --write` writes message.avsc from it" in told_of(contracts, "L05")
