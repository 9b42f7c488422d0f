from cdc_contracts.registry.authoring.lint.lint_documents import show_short
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, ENVELOPE


@lint_rule(
    ERROR,
    says="Checks that contracts, mappings and schemas are named after their folders.",
    why="References follow the folders: a copy that keeps its old name would stand for another contract.",
    good="contract: dts/canal@2 in dts/canal/v2",
    bad="contract: dts/canal@1 in dts/canal/v2",
)
def names_match_folders(run: LintRun) -> Faults:
    for version in run.versions:
        contract = version.folder.joinpath("contract.yaml")
        named = run.own.get(version.reference, {}).get("contract")
        if version.reference in run.own and named != version.reference:
            yield LintFault(contract, version.reference, show_short(named), ("contract",))
        schema = version.folder.joinpath(ENVELOPE)
        expected = f"urn:cdc-contracts:{version.subject.replace('/', ':')}:v{version.number}"
        found = run.schemas.get(version.reference, {}).get("$id", expected)
        if schema.is_file() and found != expected and str(found).startswith("urn:cdc-contracts:"):
            yield LintFault(schema, expected, show_short(found), ("$id",))
        avro = version.folder.joinpath(AVRO_ENVELOPE)
        expected = f"cdc_contracts.{version.subject.replace('/', '.').replace('-', '_')}"
        record = run.avro_schemas.get(version.reference)
        found = record.get("namespace", expected) if isinstance(record, dict) else expected
        if avro.is_file() and found != expected and str(found).startswith("cdc_contracts."):
            yield LintFault(avro, expected, show_short(found), ("namespace",))
    for file in run.mapping_files:
        stem = file.name.removesuffix(".yaml")
        mapping = run.mappings.get(stem)
        if mapping is not None and mapping.name != stem:
            yield LintFault(file, stem, mapping.name, ("mapping",))
        if str(run.catalogue.mapping_file(stem)) != str(file):
            yield LintFault(file, "a name that no other mapping has", str(run.catalogue.mapping_file(stem)))
