from importlib.resources.abc import Traversable
from pathlib import Path

from cdc_contracts.registry.authoring.lint.lint_documents import find_unreadable, read_yaml
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.findings import ERROR


@lint_rule(
    ERROR,
    says="Checks that a table contract names its table, gives its columns types, and has a key of its own columns.",
    why="Dialects that send no types or keys take them from here: a wrong key merges different rows.",
    good="primary_key: [id] with a column id",
    bad="primary_key: [id] without a column id",
)
def table_contracts_hold_together(run: LintRun) -> Faults:
    from cdc_contracts.registry.core.contract.table_contracts import parse_table_contract

    found: list[Traversable] = [*run.targets.tables]
    for version in run.versions:
        found += run.samples[version.reference].table_files
    tables: dict[tuple[str, str], Traversable] = {}
    for file in found:
        if faults := list(find_unreadable(file)):
            yield from faults
            continue
        try:
            contract = parse_table_contract(read_yaml(file), str(file))
        except ContractError as error:
            yield LintFault(file, "a table contract", error.what, tuple(error.what.partition(": ")[0].split(".")))
            continue
        folder = str(Path(str(file)).parent)
        if (folder, contract.table) in tables:
            yield LintFault(
                file, f"one contract for {contract.table}", f"another in {tables[folder, contract.table].name}"
            )
        tables[folder, contract.table] = file
