from cdc_contracts.registry.authoring.lint.lint_links import base_has, contract_file, meanings_under_lint, member_at
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import ENVELOPE, Version


@lint_rule(
    ERROR,
    says="Checks that the op map names exactly the codes that the JSON Schema allows.",
    why="Messages with an unmapped code conform but cannot be read; an op whose code the schema rejects never occurs.",
    good="ops: {INSERT: insert, DDL: ddl} for an enum of INSERT and DDL",
    bad="ops: {INSERT: insert} for the same enum",
)
def op_codes_are_mapped(run: LintRun) -> Faults:
    for version, meaning in meanings_under_lint(run):
        schema = run.valid_schemas.get(version.reference)
        if schema is None:
            continue
        member = member_at(schema, split_pointer(meaning.envelope.op.at))
        allowed = member.get("enum", [member["const"]] if "const" in member else None) if member else None
        if allowed is None or _same_in_base(run, version, "ops"):
            continue
        codes = [*meaning.ops, *meaning.tolerated_ops]
        for code in allowed:
            if code is not None and code not in codes:
                yield LintFault(contract_file(version), f"an op for {code}, which the schema allows", "none", ("ops",))
        for code in codes:
            if code not in allowed:
                yield LintFault(contract_file(version), "a code that the schema allows", code, ("ops", code))


def _same_in_base(run: LintRun, version: Version, key: str) -> bool:
    own = version.folder.joinpath(ENVELOPE).is_file()
    return not own and base_has(run, version, key)
