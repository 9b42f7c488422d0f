"""Every sample of the vendors' documents is a message of its subject, once the errata are corrected and not before.

The documents are no part of the project: CDC_CONTRACTS_SEEDS names the folder that holds them.
"""

from __future__ import annotations

import io
import os
from functools import cache
from pathlib import Path

import fastavro
import pytest
from seeds import (
    COMMUNITY,
    DRS,
    DTS,
    ENTERPRISE,
    SAMPLES,
    SECTIONS,
    STREAMX,
    TEMPLATE,
    VARIABLE,
    document,
    json_texts,
    repaired,
    texts_of,
)

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import Number

if VARIABLE not in os.environ:
    pytest.skip(f"{VARIABLE} does not name the folder of the vendors' documents", allow_module_level=True)

SEEDS = Path(os.environ[VARIABLE])
CATALOGUE = shipped_catalogue()
REPAIRS = [pytest.param(sample, one, id=f"{sample} without {one}") for sample in SAMPLES for one in sample.text.repairs]

# Counted by hand: messages, and templates that only have the shape of one.
COUNTS = {COMMUNITY: (19, 6), ENTERPRISE: (37, 10), DRS: (1, 0), STREAMX: (6, 1), DTS: (6, 0)}

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)
each_repair = pytest.mark.parametrize(("sample", "one"), REPAIRS)


def read(sample, save=None):
    return parse_message(repaired(SEEDS, sample, save=save).encode(), strict=True)


@cache
def judges_of(subject):
    return [ReferenceValidator(version, ReadingOptions()) for version in CATALOGUE.versions(subject)]


def need_contract(sample):
    if sample.subject not in CATALOGUE.subjects():
        pytest.skip(f"{sample.subject} is not in the catalogue yet")


def message_of(sample, save=None):
    """The message of a sample; what is binary on the wire is shown as JSON (E53), and made binary here to be read."""
    shown = read(sample, save=save)
    wire = judges_of(sample.subject)[-1].wire
    return shown if wire.transport == "json" else wire.open(record_of(shown, wire.schemas["record-14.avsc"]))


# A value is shown without the name of its record; its members tell which it is.
RECORDS = {
    ("precision", "value"): "Integer",
    ("precision", "scale", "value"): "Decimal",
    ("charset", "value"): "Character",
}


def record_of(shown, schema):
    names = {name.rpartition(".")[2]: name for name in fastavro_names(schema)}

    def value_of(value):
        if value is None:
            return None
        members = {name: plain(one) for name, one in value.items()}
        return (names[RECORDS[tuple(sorted(members))]], members)

    def plain(value):
        if isinstance(value, Number):
            return int(value)
        if isinstance(value, dict):
            return value["bytes"].encode() if value.keys() == {"bytes"} else {k: plain(v) for k, v in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value

    datum = plain({name: one for name, one in shown.items() if not name.endswith("Images")})
    for side in ("beforeImages", "afterImages"):
        datum[side] = [value_of(one) for one in shown[side]] if isinstance(shown[side], list) else shown[side]
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, datum)
    return out.getvalue()


def fastavro_names(schema):
    if isinstance(schema, list):
        return [name for branch in schema for name in fastavro_names(branch)]
    if not isinstance(schema, dict):
        return []
    own = [schema["name"]] if schema["type"] == "record" else []
    below = [field["type"] for field in schema.get("fields", ())] + [
        schema[part] for part in ("items",) if part in schema
    ]
    return own + [name for one in below for name in fastavro_names(one)]


def speaker(sample):
    validators = judges_of(sample.subject)
    return validators[-1 if sample.text.version is None else sample.text.version - 1]


def reported(sample, message):
    """Whether the version of a sample takes a message, as which op, and what it remarks."""
    version_verdict = speaker(sample).validate(message)
    ops = {change.op for change in version_verdict.changes} | (
        {version_verdict.control.kind} if version_verdict.control else set()
    )
    return version_verdict.fits, ops, [finding.rule for finding in version_verdict.findings]


@each_sample
def test_a_sample_is_one_json_object(sample):
    assert read(sample)


@each_sample
def test_a_sample_is_claimed_by_its_subject_and_by_those_it_cannot_be_distinguished_from(sample):
    need_contract(sample)
    message = message_of(sample)

    claimed = {
        subject
        for subject in CATALOGUE.subjects()
        for validator in judges_of(subject)
        # What is claimed on declaration only is asked for its own samples alone.
        if (validator.meaning.claim is None or subject == sample.subject) and validator.claims(message)
    }

    assert sample.subject in claimed
    assert claimed - {sample.subject} <= set(speaker(sample).meaning.not_separable_from)


@each_sample
def test_a_sample_conforms_as_the_op_that_its_document_shows(sample):
    need_contract(sample)

    fits, ops, remarks = reported(sample, message_of(sample))

    assert fits, remarks
    assert remarks == list(sample.text.remarks)
    assert len(ops) == 1
    assert sample.text.op is None or ops == {sample.text.op}


@each_repair
def test_a_repair_finds_what_it_corrects(sample, one):
    assert repaired(SEEDS, sample, save=one) != repaired(SEEDS, sample)


@each_repair
def test_a_sample_that_lacks_one_repair_is_refused_as_its_erratum_says(sample, one):
    if one.without == "unreadable":
        with pytest.raises(Unreadable):
            read(sample, save=one)
        return
    need_contract(sample)
    message = message_of(sample, save=one)

    fits, ops, remarks = reported(sample, message)

    match one.without:
        case "refused":
            assert not any(validator.validate(message).fits for validator in judges_of(sample.subject))
        case "remarked":
            assert fits
            assert set(remarks) > set(sample.text.remarks)
        case "told-otherwise":
            assert fits
            assert ops != {sample.text.op}
        case "unseen":
            assert (fits, ops, remarks) == reported(sample, message_of(sample))


@pytest.mark.parametrize("subject", ["oms-community/default", "oms/default"])
def test_only_a_repaired_delete_has_the_columns_of_the_insert(subject):
    named = {sample.text.name: sample for sample in SAMPLES if sample.subject == subject}
    delete = named["delete"]
    columns = read(named["insert"])["postStruct"].keys()

    assert read(delete)["prevStruct"].keys() == columns
    assert read(delete, save=delete.text.repairs[-1])["prevStruct"].keys() != columns


def test_only_a_repaired_row_id_is_that_of_the_row_that_is_deleted():
    named = {sample.text.name: sample for sample in SAMPLES if sample.subject == "oms/shareplex"}
    insert = named["insert"]
    row_id = read(named["delete"])["meta"]["rowid"]

    assert read(insert)["meta"]["rowid"] == row_id
    assert read(insert, save=insert.text.repairs[-1])["meta"]["rowid"] != row_id


@pytest.mark.parametrize("name", COUNTS)
def test_a_document_gives_as_many_samples_as_were_counted_by_hand(name):
    sections = [section for section in SECTIONS if section.document == name]
    found = sum(len(texts_of(SEEDS, section)) for section in sections)
    templates = sum(text is TEMPLATE for section in sections for text in section.texts)

    assert (found - templates, templates) == COUNTS[name]
    assert found == len(list(json_texts(document(SEEDS, name))))
    assert COUNTS[name][0] == sum(sample.section.document == name for sample in SAMPLES)
