from pathlib import Path

from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.authoring.lint.lint_tables import is_read, typed_mappings
from cdc_contracts.registry.core.common.findings import WARNING
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping


@lint_rule(
    WARNING,
    says="Checks that one value mapping reads all types of a table; if topics are bound, one of their mappings.",
    why="Types of two databases in one table are usually a mistake, and no mapping can read all of its columns.",
    good="id: {type: int} and at: {type: datetime}",
    bad="id: {type: int} and name: {type: VARCHAR2(20)}",
)
def types_belong_together(run: LintRun) -> Faults:
    bound = _bound_mappings(run)
    mappings = typed_mappings(run, bound or run.mappings)
    for file, contract in run.tables:
        unread = {one.name: _unread(one, contract, run) for one in mappings}
        if not unread or not min(map(len, unread.values())):
            continue
        nearest = min(unread, key=lambda name: (len(unread[name]), name))
        for name in unread[nearest]:
            expected = f"a type that {nearest} reads, as the others" + (": topics are bound to it" if bound else "")
            yield LintFault(file, expected, contract.types[name], ("columns", name, "type"))


def _bound_mappings(run: LintRun) -> set[str]:
    """Return the mappings of the contracts that `cdc-contracts.yaml` binds topics to."""
    from cdc_contracts.registry.core.common.errors import CdcContractsError
    from cdc_contracts.registry.core.contract.settings import read_settings

    try:
        bound = set(read_settings(Path.cwd()).topics.values())
        return {name for one in bound for version in run.catalogue.resolve(one) for name in version.mapping_names()}
    except CdcContractsError:
        return set()


def _unread(mapping: ValueMapping, contract: TableContract, run: LintRun) -> list[str]:
    """Return the columns whose type a mapping does not read, although another one does."""
    from cdc_contracts.registry.core.contract.type_families import type_name_in

    table = "protocol" if "code" in mapping.document.names else None
    known = typed_mappings(run, run.mappings)
    encodings = any(
        version.meaning.columns.types != "none" and version.meaning.columns.types.names_encodings
        for version in run.catalogue.all_versions()
        if mapping.name in version.mapping_names()
    )
    return [
        name
        for name, result in contract.types.items()
        if type_name_in(mapping, result, table, names_encodings=encodings) is None and is_read(result, known)
    ]
