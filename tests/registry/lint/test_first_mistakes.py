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
    return next(one for one in all_told_of(contracts) if rule is None or one.startswith(rule))


def all_told_of(contracts):
    """Return every finding as it is printed, without its place."""
    findings = lint([contracts]).findings
    return [f"{one.rule} {one.path}: expected {one.expected}; found {one.observed}" for one in findings]


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
         "event_time, op, position, primary_key, primary_key_values, process_time, release, schema, source_kind, "
         "source_position, table, transaction; found evnt_time")),
        (CONTRACT, "op: {at: /kind}", "op: /kind",
         "L02 /envelope/op: expected a mapping, as in `op: {at: /type}`; its keys are at, flags, null_means, null_value; found /kind"),
        (CONTRACT, "form: epoch-millis", "form: epoch-milis",
         ("L02 /envelope/event_time/form: expected one of epoch-millis, epoch-micros, epoch-seconds, epoch-seconds-text, "
         "epoch-seconds-or-millis, epoch-millis-list-last, iso-local, iso-local-or-utc (do you mean epoch-millis?); found epoch-milis")),
        (CONTRACT, "{at: /when", "{at: when",
         "L02 /envelope/event_time/at: expected a JSON Pointer, which begins with /, as in `at: /type`; found when"),
        (CONTRACT, "types: {at: /types, as: name-to-type}", "types: /types",
         ("L02 /columns/types: expected a mapping, as in `types: {at: /types, as: name-to-type}`; its keys are as, at, "
         "field, in_image, name, parameter, table, type, with_parameters, without_parameters, or none; found /types")),
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


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (CONTRACT, "form: epoch-millis}", "form: epoch-millis}\n  position: {at: /no, order: integer, rises: always}",
         "L02 /envelope/position/rises: expected the key `monotonic`: `rises` is now `monotonic`; found rises"),
        (CONTRACT, "before: {at: /old}, after: {at: /new}", "before: {at: /old, over: /new}, after: {at: /new}",
         "L02 /images/update/before/over: expected the key `completed_from`: `over` is now `completed_from`; found over"),
        (CONTRACT, "full_load:", "halves: {joined_if: both-images, pair_by: [position]}\nfull_load:",
         "L02 /halves: expected the key `split_update`: `halves` is now `split_update`; found halves"),
        (CONTRACT, "as: name-to-type}", "as: name-to-type, bare: true}",
         "L02 /columns/types/bare: expected the key `without_parameters`: `bare` is now `without_parameters`; found bare"),
        (CONTRACT, "name-to-type}", "name-to-type}\n  hints: {at: /schema, as: connect-schema}",
         "L02 /columns/hints: expected the key `schema_block`: `hints` is now `schema_block`; found hints"),
        (CONTRACT, "form: epoch-millis}", "form: epoch-millis}\n  source_kind: {at: /kind, never: [ORACLE]}",
         "L02 /envelope/source_kind/never: expected the key `excluded_kinds`: `never` is now `excluded_kinds`; found never"),
        (CONTRACT, "transport: json", "transport: json\navro: {schemas: [envelope.avsc], unread: 0}",
         "L02 /avro/unread: expected the key `trailing_bytes`: `unread` is now `trailing_bytes`; found unread"),
        (CONTRACT, "{present: /acme}", "{avro-decodes: envelope.avsc, unread: 0}",
         "L02 /discriminators/0/unread: expected the key `trailing-bytes`: `unread` is now `trailing-bytes`; found unread"),
        (CONTRACT, "{value-form: TIMESTAMP, is: epoch-seconds-integer}", "{unread-bytes: 0}",
         ("L02 /version_evidence/0/unread-bytes: expected the key `trailing-bytes`: `unread-bytes` is now `trailing-bytes`; "
         "found unread-bytes")),
        (MAPPING, "forms:", "zeros_left_out: [text]\nforms:",
         ("L03 /zeros_left_out: expected a value mapping; found zeros_left_out: unknown key; `zeros_left_out` is now "
         "`no_trailing_zeros`")),
    ],
    ids=lambda given: given if isinstance(given, str) and given.startswith("L") else "",
)  # fmt: skip
def test_a_key_that_was_renamed_names_the_new_one(file, old, new, says, contracts):
    text = (contracts / file).read_text()
    assert old in text
    (contracts / file).write_text(text.replace(old, new, 1))
    assert says in all_told_of(contracts)


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
