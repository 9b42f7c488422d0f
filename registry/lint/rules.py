"""Every lint rule: its id, which never changes, what it looks at, and the function that looks."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.findings import ERROR, WARNING
from cdc_contracts.registry.lint import documents, judgements, links, locks, shapes
from cdc_contracts.registry.lint.rule import LintRule

LINT_RULES: Final = (
    LintRule(
        "L01", "document-readable", ERROR,
        "Checks that every YAML and JSON file is one document in UTF-8 that names no key twice.",
        "status: current", "status: current, and status: legacy further down",
        documents.documents_can_be_read,
    ),
    LintRule(
        "L02", "contract-valid", ERROR,
        "Checks that a contract, with what it is based on, uses only the keys, values and readings of the vocabulary.",
        "event_time: {at: /es, form: epoch-millis}", "event_time: {at: /es, form: milliseconds}",
        documents.contracts_keep_to_the_vocabulary,
    ),
    LintRule(
        "L03", "mapping-valid", ERROR,
        "Checks that a value mapping resolves, names known value forms, and gives each source type one form.",
        "integer-text: [INT, BIGINT]", "integer-text: [INT], and decimal-text: [INT] below it",
        documents.mappings_keep_to_the_vocabulary,
    ),
    LintRule(
        "L04", "names-match", ERROR,
        "Checks that contracts, mappings and schemas are called what their folders say.",
        "contract: dts/canal@2 in dts/canal/v2", "contract: dts/canal@1 in dts/canal/v2",
        documents.names_match_folders,
    ),
    LintRule(
        "L05", "layout-complete", ERROR,
        "Checks that versions run from 1 without a gap, and that their folders hold the documents of a contract only.",
        "v1, v2, v3", "v1, v3",
        documents.folders_are_complete,
    ),
    LintRule(
        "L06", "base-resolves", ERROR,
        "Checks that `based_on` leads to a version that exists, and not round in a circle.",
        "based_on: dts/canal@1", "based_on: dts/canal@9",
        links.bases_resolve,
    ),
    LintRule(
        "L07", "mapping-resolves", ERROR,
        "Checks that the value mappings a contract uses exist, and that the forms it takes as evidence are theirs.",
        "values: {mapping: dts-canal}", "values: {mapping: dts-cannal}",
        links.mappings_resolve,
    ),
    LintRule(
        "L08", "applies-continuous", ERROR,
        "Checks that the ranges of a subject's versions follow each other without a hole and without an overlap.",
        'until: "3.3.0" in @1 and since: "3.3.0" in @2', 'until: "3.3.0" in @1 and since: "3.4.0" in @2',
        links.versions_follow_each_other,
    ),
    LintRule(
        "L09", "op-mapped", ERROR,
        "Checks that the op map names exactly the codes that the JSON Schema allows.",
        "ops: {INSERT: insert, DDL: ddl} for an enum of INSERT and DDL", "ops: {INSERT: insert} for the same enum",
        links.op_codes_are_mapped,
    ),
    LintRule(
        "L10", "place-exists", ERROR,
        "Checks that every place a contract names is a member of its JSON Schema.",
        "table: {at: /table}", "table: {at: /tabel}",
        links.places_are_members,
    ),
    LintRule(
        "L11", "schema-valid", ERROR,
        "Checks that a JSON Schema is valid, keeps to the closed list of keywords, and is strict about members.",
        '"additionalProperties": false', '"patternProperties": {}',
        shapes.schemas_are_valid,
    ),
    LintRule(
        "L12", "avro-valid", ERROR,
        "Checks that an Avro schema is valid and that its types can hold what JSON holds.",
        '{"name": "es", "type": "long"}', '{"name": "es", "type": "number"}',
        shapes.avro_schemas_are_valid,
    ),
    LintRule(
        "L13", "schemas-agree", ERROR,
        "Checks that JSON Schema and Avro schema have the same members, nesting, nulls and optional members.",
        '"type": ["string", "null"] and ["null", "string"]', '"type": ["string", "null"] and "string"',
        shapes.schemas_agree,
    ),
    LintRule(
        "L14", "erratum-complete", ERROR,
        "Checks that every erratum says its document, what that says and shows, the decision and why.",
        "{id: E7, document: …, says: …, shows: …, decision: enforce, why: …}", "{id: E7, says: …}",
        documents.errata_are_complete,
    ),
    LintRule(
        "L15", "erratum-exists", ERROR,
        "Checks that every erratum a contract cites stands in errata.yaml.",
        "errata: [E84]", "errata: [E84O]",
        links.errata_exist,
    ),
    LintRule(
        "L16", "sample-paired", ERROR,
        "Checks that every file of samples/ is a message with its expectation beside it.",
        "insert.json and insert.change.json", "insert.json alone",
        judgements.samples_are_paired,
    ),
    LintRule(
        "L17", "sample-conforms", ERROR,
        "Checks that every sample conforms to its version, or is a message without a row where no change is expected.",
        "an INSERT with its row", "an INSERT without a row, in samples/",
        judgements.samples_conform,
    ),
    LintRule(
        "L18", "sample-decodes", ERROR,
        "Checks that every sample decodes to exactly the changes in its .change.json.",
        '"after": {"total": "12.10"} for the number 12.10', '"after": {"total": "12.1"} for the number 12.10',
        judgements.samples_decode,
    ),
    LintRule(
        "L19", "sample-survives-avro", ERROR,
        "Checks that every sample goes through the Avro schema and back without loss.",
        "a number kept as its token", "a number kept as a double",
        judgements.samples_survive_avro,
    ),
    LintRule(
        "L20", "drift-found", ERROR,
        "Checks that every drift sample gives exactly the outcome and findings in its .findings.json.",
        '{"outcome": "drifted", …} for what is judged as drifted', '{"outcome": "drifted", …} for what conforms',
        judgements.drifts_are_found,
    ),
    LintRule(
        "L21", "op-sampled", WARNING,
        "Checks that every op a contract maps has a sample.",
        "samples of an insert, an update and a delete", "samples of an insert only",
        judgements.ops_have_samples,
    ),
    LintRule(
        "L22", "own-samples-claimed", ERROR,
        "Checks that the discriminators of a subject hold for all of its own samples.",
        "{present: /id}, and every sample has an id", "{present: /id}, and a sample has none",
        judgements.own_samples_are_claimed,
    ),
    LintRule(
        "L23", "other-samples-refused", ERROR,
        "Checks that the discriminators of a subject refuse the samples of all others, save of `not_separable_from`.",
        "[{present: /id}, {present: /isDdl}]", "[{present: /type}], which two subjects have",
        judgements.other_samples_are_refused,
    ),
    LintRule(
        "L24", "not-separable-mutual", ERROR,
        "Checks that subjects no message tells apart name each other, and that some sample shows it.",
        "each of two subjects names the other", "only one of two names the other",
        judgements.not_separable_is_mutual,
    ),
    LintRule(
        "L25", "table-contract-valid", ERROR,
        "Checks that a table contract names its table, types its columns, and takes its key from them.",
        "primary_key: [id] with a column id", "primary_key: [id] without a column id",
        documents.table_contracts_hold_together,
    ),
    LintRule(
        "L40", "lock-readable", ERROR,
        "Checks that every line of ids.lock is an entry, and that the lines are in order.",
        "id 7 above id 8", "a mark of a conflict in git, or id 8 above id 7",
        locks.lines_are_entries_in_order,
    ),
    LintRule(
        "L41", "id-unique", ERROR,
        "Checks that an id in ids.lock stands for one schema, and that a schema has one id.",
        "7 dts/canal@2 JSON and 8 dts/canal@3 JSON", "7 dts/canal@2 JSON and 7 dts/canal@3 JSON",
        locks.ids_stand_for_one_schema,
    ),
    LintRule(
        "L42", "id-kept", ERROR,
        "Checks that a schema with an id is still the schema that got it, and that a retired one is gone.",
        "a new version of a contract for a new member", "a new member in a version that has an id",
        locks.schemas_with_ids_stay,
    ),
    LintRule(
        "L43", "lock-complete", ERROR,
        "Checks that ids.lock, where there is one, has both schemas of every contract, and retires those gone.",
        "a line for JSON and one for AVRO", "a new version without a line",
        locks.every_schema_has_an_id,
    ),
)  # fmt: skip
