"""Every lint rule: its id, which never changes, what it looks at, and the function that looks."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.findings import ERROR, WARNING
from cdc_contracts.registry.lint import documents, excuses, judgements, links, shapes
from cdc_contracts.registry.lint.rule import LintRule

LINT_RULES: Final = (
    LintRule(
        "L01", "document-readable", ERROR,
        "Checks that every YAML and JSON file is one document in UTF-8 that names no key twice.",
        "Of two keys of one name most readers silently take the last: the contract would say less than it shows.",
        "status: current", "status: current, and status: legacy further down",
        documents.documents_can_be_read,
    ),
    LintRule(
        "L02", "contract-valid", ERROR,
        "Checks that a contract, with what it is based on, uses only the keys, values and readings of the vocabulary.",
        "A key that nothing reads is a promise that nothing keeps: messages are judged as if it did not stand there.",
        "event_time: {at: /es, form: epoch-millis}", "event_time: {at: /es, form: milliseconds}",
        documents.contracts_keep_to_the_vocabulary,
    ),
    LintRule(
        "L03", "mapping-valid", ERROR,
        "Checks that a value mapping resolves, names known value forms, and gives each source type one form.",
        "Which value form a type has decides how every value of it is read: a type under two forms is read by chance.",
        "integer-text: [INT, BIGINT]", "integer-text: [INT], and decimal-text: [INT] below it",
        documents.mappings_keep_to_the_vocabulary,
    ),
    LintRule(
        "L04", "names-match", ERROR,
        "Checks that contracts, mappings and schemas are called what their folders say.",
        "A reference is made of folders: one that was copied and keeps its old name answers for another.",
        "contract: dts/canal@2 in dts/canal/v2", "contract: dts/canal@1 in dts/canal/v2",
        documents.names_match_folders,
    ),
    LintRule(
        "L05", "layout-complete", ERROR,
        "Checks that versions run from 1 without a gap, and that their folders hold the documents of a contract only.",
        "References and `based_on` count on versions; a stray file is mostly a sample that nothing looks at.",
        "v1, v2, v3", "v1, v3",
        documents.folders_are_complete,
    ),
    LintRule(
        "L06", "base-resolves", ERROR,
        "Checks that `based_on` leads to a version that exists, and not round in a circle.",
        "What a version does not say itself comes from there: without it there is no contract.",
        "based_on: dts/canal@1", "based_on: dts/canal@9",
        links.bases_resolve,
    ),
    LintRule(
        "L07", "mapping-resolves", ERROR,
        "Checks that the value mappings a contract uses exist, and that the forms it takes as evidence are theirs.",
        "Without its mapping no value can be read; evidence that the mapping denies tells versions apart wrongly.",
        "values: {mapping: dts-canal}", "values: {mapping: dts-cannal}",
        links.mappings_resolve,
    ),
    LintRule(
        "L08", "applies-continuous", ERROR,
        "Checks that the ranges of a subject's versions follow each other without a hole and without an overlap.",
        "`@2024-06-01` has to mean one version: in a hole it means none, in an overlap two.",
        'until: "3.3.0" in @1 and since: "3.3.0" in @2', 'until: "3.3.0" in @1 and since: "3.4.0" in @2',
        links.versions_follow_each_other,
    ),
    LintRule(
        "L09", "op-mapped", ERROR,
        "Checks that the op map names exactly the codes that the JSON Schema allows.",
        "A code without an op is a message that conforms and cannot be read; an op without a code is never read.",
        "ops: {INSERT: insert, DDL: ddl} for an enum of INSERT and DDL", "ops: {INSERT: insert} for the same enum",
        links.op_codes_are_mapped,
    ),
    LintRule(
        "L10", "place-exists", ERROR,
        "Checks that every place a contract names is a member of its JSON Schema.",
        "A place that no message has is read as absent, everywhere and without a word.",
        "table: {at: /table}", "table: {at: /tabel}",
        links.places_are_members,
    ),
    LintRule(
        "L11", "schema-valid", ERROR,
        "Checks that a JSON Schema is valid, keeps to the closed list of keywords, and is strict about members.",
        "A keyword that the fast path does not know is kept by one engine only; an open object hides drift.",
        '"additionalProperties": false', '"patternProperties": {}',
        shapes.schemas_are_valid,
    ),
    LintRule(
        "L12", "avro-valid", ERROR,
        "Checks that an Avro schema is valid and that its types can hold what JSON holds.",
        "Consumers read by this schema: one that does not parse, or that rounds what JSON holds, loses data.",
        '{"name": "es", "type": "long"}', '{"name": "es", "type": "number"}',
        shapes.avro_schemas_are_valid,
    ),
    LintRule(
        "L13", "schemas-agree", ERROR,
        "Checks that JSON Schema and Avro schema have the same members, nesting, nulls and optional members.",
        "Whoever reads Avro must be able to hold every message that the JSON Schema lets pass, and nothing else.",
        '"type": ["string", "null"] and ["null", "string"]', '"type": ["string", "null"] and "string"',
        shapes.schemas_agree,
    ),
    LintRule(
        "L14", "erratum-complete", ERROR,
        "Checks that every erratum says its document, what that says and shows, the decision and why.",
        "A decision without its reason is made again, differently, by the next person who reads the vendor's page.",
        "{id: E7, document: …, says: …, shows: …, decision: enforce, why: …}", "{id: E7, says: …}",
        documents.errata_are_complete,
    ),
    LintRule(
        "L15", "erratum-exists", ERROR,
        "Checks that every erratum a contract cites stands in errata.yaml.",
        "Whoever asks why the contract reads a message so has to find the answer.",
        "errata: [E84]", "errata: [E84O]",
        links.errata_exist,
    ),
    LintRule(
        "L16", "sample-paired", ERROR,
        "Checks that every file of samples/ is a message with its expectation beside it.",
        "A message without expectation proves nothing; an expectation without message is proof that was lost.",
        "insert.json and insert.change.json", "insert.json alone",
        judgements.samples_are_paired,
    ),
    LintRule(
        "L17", "sample-conforms", ERROR,
        "Checks that every sample conforms to its version, or is a message without a row where no change is expected.",
        "Samples are what the document shows: a contract that refuses them is wrong, or its sample is.",
        "an INSERT with its row", "an INSERT without a row, in samples/",
        judgements.samples_conform,
    ),
    LintRule(
        "L18", "sample-decodes", ERROR,
        "Checks that every sample decodes to exactly the changes in its .change.json.",
        "Here a changed value form, image or time zone shows, as a value that is no longer read as it was.",
        '"after": {"total": "12.10"} for the number 12.10', '"after": {"total": "12.1"} for the number 12.10',
        judgements.samples_decode,
    ),
    LintRule(
        "L19", "sample-survives-avro", ERROR,
        "Checks that every sample goes through the Avro schema and back without loss.",
        "What a sample loses on the way through Avro, every consumer of Avro loses in every message.",
        "a number kept as its token", "a number kept as a double",
        judgements.samples_survive_avro,
    ),
    LintRule(
        "L20", "drift-found", ERROR,
        "Checks that every drift sample gives exactly the outcome and findings in its .findings.json.",
        "A contract that takes what it should refuse finds no drift: this is the test of the alarm.",
        '{"outcome": "drifted", …} for what is judged as drifted', '{"outcome": "drifted", …} for what conforms',
        judgements.drifts_are_found,
    ),
    LintRule(
        "L21", "op-sampled", WARNING,
        "Checks that every op a contract maps has a sample.",
        "An op that no sample shows was never tried: nobody knows whether the contract reads it right.",
        "samples of an insert, an update and a delete", "samples of an insert only",
        judgements.ops_have_samples,
    ),
    LintRule(
        "L22", "own-samples-claimed", ERROR,
        "Checks that the discriminators of a subject hold for all of its own samples.",
        "`detect` and `auto` go by these: a contract that does not know its own messages is never found.",
        "{present: /id}, and every sample has an id", "{present: /id}, and a sample has none",
        judgements.own_samples_are_claimed,
    ),
    LintRule(
        "L23", "other-samples-refused", ERROR,
        "Checks that the discriminators of a subject refuse the samples of all others, save of `not_separable_from`.",
        "Messages of another product would be read as this one's, and values come out wrong without an error.",
        "[{present: /id}, {present: /isDdl}]", "[{present: /type}], which two subjects have",
        judgements.other_samples_are_refused,
    ),
    LintRule(
        "L24", "not-separable-mutual", ERROR,
        "Checks that subjects no message tells apart name each other, and that some sample shows it.",
        "Whoever is told that two contracts fit has to hear it from both sides, and only where it is true.",
        "each of two subjects names the other", "only one of two names the other",
        judgements.not_separable_is_mutual,
    ),
    LintRule(
        "L25", "table-contract-valid", ERROR,
        "Checks that a table contract names its table, types its columns, and takes its key from them.",
        "Column types and keys of dialects that send none come from here: a wrong key merges rows that are not one.",
        "primary_key: [id] with a column id", "primary_key: [id] without a column id",
        documents.table_contracts_hold_together,
    ),
    LintRule(
        "L26", "ignore-complete", ERROR,
        "Checks that every comment that ignores a finding names a rule that may be ignored, a last day and a reason.",
        "A finding that is ignored without a reason, or for ever, is one that nobody will look at again.",
        "# cdc-contracts: ignore L21 until 2027-01-31 because the vendor shows no sample",
        "# cdc-contracts: ignore L21",
        excuses.ignores_are_complete,
    ),
    LintRule(
        "L27", "ignore-current", ERROR,
        "Checks that no comment that ignores a finding is past its last day; the finding counts again from then on.",
        "The day was a promise to have mended it by then.",
        "until 2027-01-31, before that day is over", "until 2027-01-31, on 2027-02-01",
        excuses.ignores_are_current,
    ),
    LintRule(
        "L28", "ignore-needed", WARNING,
        "Checks that every comment that ignores a finding ignores one.",
        "What has been mended needs no comment, and one that stays hides the next finding of its kind.",
        "ignore L21, where an op has no sample", "ignore L21, where every op has one",
        None,
    ),
)  # fmt: skip
IGNORE_NEEDED: Final = LINT_RULES[-1]
IGNORABLE: Final = frozenset(rule.id for rule in LINT_RULES if not rule.name.startswith("ignore-"))
