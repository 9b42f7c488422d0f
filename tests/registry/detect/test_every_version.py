"""Every version of the catalogue by its own messages: right, or an honest tie, and never wrong."""

import os

import pytest
from by_hand import row_of, without_rows
from detected_topics import detect_messages, sampled

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue

CATALOGUE = shipped_catalogue()
MESSAGES = 500 if os.environ.get("CDC_CONTRACTS_FOREIGN") == "all" else 120

# What hundreds of messages of mixed ops tell, by the documents: the verdict, the contract named first, and the others that
# read every message alike. Written from the catalogue, not from what the code says.
DECIDABLE = {
    # Members tell the versions; types with a length, and ids that repeat in a batch, tell it from DTS and DRS.
    "canal/flat@1": ("certain", "canal/flat@1", ()),
    "canal/flat@2": ("certain", "canal/flat@2", ()),
    "canal/flat@3": ("certain", "canal/flat@3", ()),
    "aws-dms/json@1": ("certain", "aws-dms/json@1", ()),
    "goldengate/json@1": ("certain", "goldengate/json@1", ()),
    "goldengate/json-row@1": ("certain", "goldengate/json-row@1", ()),
    "ticdc/debezium@1": ("certain", "ticdc/debezium@1", ()),
    "ticdc/debezium-payload@1": ("certain", "ticdc/debezium-payload@1", ()),
    "ticdc/avro@1": ("certain", "ticdc/avro@1", ()),
    # A deletion tells the versions.
    "flink-cdc/canal-json@1": ("certain", "flink-cdc/canal-json@1", ()),
    "flink-cdc/canal-json@2": ("certain", "flink-cdc/canal-json@2", ()),
    "flink-cdc/debezium-json@1": ("certain", "flink-cdc/debezium-json@1", ()),
    # Bare types are of both versions, and types with a length are a warning for the earlier one.
    "ticdc/canal-json@1": ("likely", "ticdc/canal-json", ()),
    "ticdc/canal-json@2": ("likely", "ticdc/canal-json@2", ()),
    # Only a time zone tells the versions, unless a message has a member of the later one.
    "maxwell/json@1": ("likely", "maxwell/json", ()),
    "maxwell/json@2": ("certain", "maxwell/json@2", ()),
    "dataworks/streamx@1": ("certain", "dataworks/streamx@1", ()),
    # The only difference of the two versions are the ops of a full load.
    "drs/json@1": ("likely", "drs/json", ()),
    "debezium/json@1": ("certain", "debezium/json@1", ()),
    "debezium/json@2": ("certain", "debezium/json@2", ()),
    "debezium/json@3": ("certain", "debezium/json@3", ()),
    "debezium/json@4": ("certain", "debezium/json@4", ()),
    "debezium/json-schema@1": ("certain", "debezium/json-schema@1", ()),
    "debezium/json-schema@2": ("certain", "debezium/json-schema@2", ()),
    "debezium/json-schema@3": ("certain", "debezium/json-schema@3", ()),
    "debezium/json-schema@4": ("certain", "debezium/json-schema@4", ()),
    "drs/json@2": ("certain", "drs/json@2", ()),
    "drs/json-c@1": ("likely", "drs/json-c", ()),
    "drs/json-c@2": ("certain", "drs/json-c@2", ()),
    "dts/avro@1": ("certain", "dts/avro@1", ()),
    "dts/canal@1": ("certain", "dts/canal@1", ()),
    "dts/canal@2": ("certain", "dts/canal@2", ()),
    # The real SharePlex writes the same, to be read the same.
    "dts/shareplex@1": ("likely", "dts/shareplex@1", ()),
    "oms-community/canal@1": ("certain", "oms-community/canal@1", ()),
    "oms-community/canal@2": ("likely", "oms-community/canal@2", ("oms/canal@1",)),
    "oms-community/dataworks@1": ("certain", "oms-community/dataworks@1", ()),
    "oms-community/dataworks@2": ("likely", "oms-community/dataworks@2", ("oms/dataworks@1",)),
    "oms-community/debezium@1": ("likely", "oms-community/debezium@1", ("oms/debezium@1",)),
    # Without types only the columns that are written alike all along tell something.
    "oms-community/default@1": ("likely", "oms-community/default@1", ()),
    "oms-community/default@2": ("likely", "oms-community/default@2", ("oms/default@1", "oms/default@2")),
    "oms-community/default-extend-column-type@1": ("certain", "oms-community/default-extend-column-type@1", ()),
    "oms-community/default-extend-column-type@2": (
        "likely",
        "oms-community/default-extend-column-type@2",
        ("oms/default-extend-column-type@1", "oms/default-extend-column-type@2"),
    ),
    "oms-community/shareplex@1": ("likely", "oms-community/shareplex@1", ()),
    "oms-community/shareplex@2": ("likely", "oms-community/shareplex@2", ("oms/shareplex@1",)),
    "oms/avro@1": ("certain", "oms/avro@1", ()),
    "oms/canal@1": ("likely", "oms-community/canal@2", ("oms/canal@1",)),
    "oms/dataworks@1": ("likely", "oms-community/dataworks@2", ("oms/dataworks@1",)),
    "oms/debezium@1": ("certain", "oms/debezium@1", ()),
    "oms/debezium-flatten@1": ("certain", "oms/debezium-flatten@1", ()),
    # The same rewrite of Debezium's own messages leaves the same members, and other value forms.
    "oms/debezium-smt@1": ("ambiguous", None, ()),
    # Each generated row names its release, but any product may write such rows.
    "debezium/flat@1": ("likely", "debezium/flat@1", ()),
    "debezium/flat@2": ("likely", "debezium/flat@2", ()),
    "debezium/mongodb@1": ("certain", "debezium/mongodb@1", ()),
    "debezium/mongodb-schema@1": ("certain", "debezium/mongodb-schema@1", ()),
    "debezium/flat-schema@1": ("certain", "debezium/flat-schema@1", ()),
    "debezium/flat-schema@2": ("certain", "debezium/flat-schema@2", ()),
    "oms/default@1": ("likely", "oms/default", ()),
    "oms/default@2": ("likely", "oms/default@2", ()),
    "oms/default-extend-column-type@1": ("likely", "oms/default-extend-column-type", ()),
    "oms/default-extend-column-type@2": ("likely", "oms/default-extend-column-type@2", ()),
    "oms/shareplex@1": ("certain", "oms/shareplex@1", ()),
}


VERSIONS = [version.reference for version in CATALOGUE.all_versions()]


def test_the_table_names_every_version_but_new_ones():
    assert set(DECIDABLE) <= set(VERSIONS)
    assert without_rows(CATALOGUE, DECIDABLE) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("reference", VERSIONS)
def test_hundreds_of_messages_of_mixed_ops_decide_what_the_documents_make_decidable(reference):
    expected = row_of(DECIDABLE, reference, where="DECIDABLE of test_every_version.py")
    found = detect_messages(sampled(reference, MESSAGES))

    named = found.subject if found.version is None else found.version.reference
    assert (found.verdict, named, found.equivalent) == expected


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("reference", VERSIONS)
def test_20_messages_name_the_right_subject_or_an_honest_tie_and_never_a_wrong_version(reference, seed):
    found = detect_messages(sampled(reference, 20, seed=seed))
    subject = reference.partition("@")[0]

    if found.verdict == "ambiguous":
        assert reference in [candidate.contract for candidate in found.candidates]
    elif reference not in found.equivalent:
        assert found.verdict in ("certain", "likely")
        assert found.subject == subject
        assert found.version is None or found.version.reference == reference
    if found.verdict == "certain":
        assert found.version is not None
        assert found.version.reference == reference
