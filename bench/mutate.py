"""Mutants of the judging kernel and the rules: which of them the generic tests notice.

    python bench/mutate.py [--sample N | --all] [--seed S] [--only PART] [--every-version]

A mutant is one function with one thing changed: a comparison, a condition, a constant, a statement left out. It is put
into a forked process that holds everything else already, and judged by what the suite demands of every contract: the
verdicts of good and broken records in both orders, every column of all outputs and the counts of it all, as the
reference has them. What nothing notices is printed, for `docs/mutation.md` to explain.

Constants of modules, classes and default arguments are not mutated.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import importlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

import pyarrow as pa  # noqa: E402
from both_paths import CATALOGUE, VERSIONS, by_fast_path, samples, shown  # noqa: E402
from both_paths import by_reference as judged_apart  # noqa: E402
from breakers import BREAKERS, neighbours, pairs_of, scope_of  # noqa: E402
from output_rows import OUTPUTS, by_kernel, by_reference, expected_columns, records_of  # noqa: E402

from cdc_contracts.registry.accounting import account  # noqa: E402
from cdc_contracts.registry.catalogue import Version  # noqa: E402
from cdc_contracts.registry.kernel.judging import FastJudge  # noqa: E402
from cdc_contracts.registry.kernel.kernel import Kernel  # noqa: E402
from cdc_contracts.registry.rendering import Renderer  # noqa: E402
from cdc_contracts.registry.scope import Scope  # noqa: E402
from cdc_contracts.registry.streams import row_stream  # noqa: E402
from cdc_contracts.registry.tally import Source, Tally  # noqa: E402
from cdc_contracts.registry.terms import Terms  # noqa: E402

TARGETS = (
    *sorted(ROOT.glob("registry/kernel/*.py")),
    *(ROOT / f"registry/{name}.py" for name in ("rules", "relations", "reads")),
)
SECONDS = 60
"""Of processor time that a mutant has."""
FAMILIES = (
    "oms-community/canal@2", "dts/canal@2", "drs/json@2", "oms-community/default@2", "oms-community/shareplex@2",
    "dataworks/streamx@1", "oms/debezium@1", "dts/avro@1",
)  # fmt: skip
"""One version of each family of dialects: what is demanded, unless of all 31."""
MAPS = ("before", "after", "column_types")


# --- what is demanded of every mutant

Columns = dict[str, dict[str, list[Any]]]
"""The values of every column of every output, by their names."""


@dataclass(frozen=True)
class Demand:
    """Records of one version, in the order they are judged in, and what they have to come to."""

    declared: str
    values: tuple[bytes, ...]
    verdicts: tuple[Any, ...]
    columns: Columns
    counts: Any

    def is_met(self) -> bool:
        scope, records = scope_of(self.declared), records_of(self.values)
        for order in (slice(None), slice(None, None, -1)):
            if tuple(map(shown, by_fast_path(FastJudge(scope), self.values[order]))) != self.verdicts[order]:
                return False
        written = by_kernel(Kernel(scope), records)
        columns = {name: {one: table.column(one).to_pylist() for one in table.column_names}
                   for name, table in written.items()}  # fmt: skip
        return without_order(columns) == self.columns and counts_of(Kernel(scope).audit(placed(records))) == self.counts


def without_order(columns: Columns) -> Columns:
    """Return the columns with maps whose members have no order."""
    return {
        name: {column: [dict(one) if column in MAPS and one is not None else one for one in values]
               for column, values in found.items()}
        for name, found in columns.items()
    }  # fmt: skip


def placed(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return what the slow accounting knows of records: no times."""
    return records.select(["value", "topic", "partition", "offset"])


def counts_by_reference(scope: Scope, records: pa.RecordBatch) -> Any:
    """Return what the records of each partition come to one by one."""
    values: dict[Source, list[tuple[int, bytes | None]]] = {}
    for one in placed(records).to_pylist():
        values.setdefault(Source(one["topic"], one["partition"]), []).append((one["offset"], one["value"]))
    tally = Tally()
    for source, found in values.items():
        tally.merge(account(scope, source, found))
    return counts_of(tally)


def counts_of(tally: Tally) -> Any:
    """Return what the slow accounting counts as well."""
    findings = {
        key: (one.severity, one.count, one.expected, one.ops, one.contracts,
              {source: (extent.count, extent.first, extent.last) for source, extent in one.extents.items()})
        for key, one in tally.findings.items()
    }  # fmt: skip
    course = tally.course
    return (
        tally.partitions, tally.outcomes, tally.readable, findings, course.controls, course.exercise,
        course.sequences.breaches(), list(course.shapes.breaches()),
    )  # fmt: skip


def demands_of(version: Version) -> Iterator[Demand]:
    """Yield what is demanded of a version: declared by itself, and by its subject where that has several."""
    values = values_of(version)
    for declared in (version.reference, version.subject):
        if declared == version.subject and len(CATALOGUE.versions(version.subject)) < 2:  # noqa: PLR2004
            continue
        scope, records = scope_of(declared), records_of(values)
        told = by_reference(scope, records)
        columns = without_order({name: dict(expected_columns(name, told[name])) for name in OUTPUTS})
        verdicts = tuple(shown(judged_apart([scope], value)[0]) for value in values)
        yield Demand(declared, values, verdicts, columns, counts_by_reference(scope, records))


def values_of(version: Version) -> tuple[bytes, ...]:
    """Return samples, mutations and a stream of a version."""
    chosen = [value for _, value in samples()[version.reference]]
    chosen = chosen[:: max(1, len(chosen) // 25)]
    for name in (*version.meaning.rules, *version.meaning.notes):
        goods, broken = pairs_of(version, BREAKERS[name])
        chosen += [*goods, *broken[:: max(1, len(broken) // 8)]]
    around = pairs_of(version, neighbours)[1]
    chosen += around[:: max(1, len(around) // 25)]
    chosen += Renderer(version, Terms()).render_all(row_stream(3, 8, snapshot=1, controls=5))
    return tuple(dict.fromkeys(chosen))


# --- mutants


@dataclass(frozen=True, eq=False)
class Mutant:
    """One change of one function: `after` stands in the place of `before`."""

    file: Path
    tree: ast.Module
    path: tuple[str, ...]
    line: int
    before: ast.AST
    after: ast.AST

    @property
    def function(self) -> str:
        return ".".join(self.path)

    def code(self) -> CodeType | None:
        """Return what the function is then."""
        changed = ast.fix_missing_locations(replaced(self.tree, self.before, self.after))
        return code_at(compile(changed, str(self.file), "exec"), self.path)

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} {self.function}"

    def __str__(self) -> str:
        before, after = (ast.unparse(one).splitlines()[0] for one in (self.before, self.after))
        return f"{self.place}: {before}  ->  {after}"


_SWAPPED: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    yield from _other_operators(node)
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.If():
            yield ast.If(ast.Constant(value=False), node.body, node.orelse)
            yield ast.If(ast.Constant(value=True), node.body, node.orelse)
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Continue():
            yield ast.Expr(ast.Constant(value=None))
        case ast.comprehension(ifs=[_, *_]):
            yield ast.comprehension(node.target, node.iter, [], node.is_async)


def _other_operators(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op, *more]) if type(op) in _SWAPPED:
            yield ast.Compare(node.left, [_SWAPPED[type(op)](), *more], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(_SWAPPED[type(node.op)](), node.values)
            for place in range(len(node.values)):
                rest = [one for at, one in enumerate(node.values) if at != place]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        case ast.BinOp() if type(node.op) in _SWAPPED:
            yield ast.BinOp(node.left, _SWAPPED[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            yield node.operand


def mutants_of(file: Path) -> Iterator[Mutant]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for path, function in functions_of(tree):
        for node in list(ast.walk(function)):
            if node is function:
                continue
            line = getattr(node, "lineno", getattr(getattr(node, "target", None), "lineno", function.lineno))
            for variant in variants(node):
                yield Mutant(file, tree, path, line, node, variant)


def functions_of(tree: ast.Module) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield (node.name,), node
        elif isinstance(node, ast.ClassDef):
            yield from (((node.name, one.name), one) for one in node.body if isinstance(one, ast.FunctionDef))


def replaced(tree: ast.Module, node: ast.AST, variant: ast.AST) -> ast.Module:
    """Return a copy of a module with another node in the place of one."""
    ast.copy_location(variant, node) if hasattr(node, "lineno") else None

    class Put(ast.NodeTransformer):
        def visit(self, found: ast.AST) -> Any:
            return copy.deepcopy(variant) if found is node else super().visit(found)

        def generic_visit(self, found: ast.AST) -> ast.AST:
            fresh = copy.copy(found)
            for name, value in ast.iter_fields(found):
                if isinstance(value, list):
                    setattr(fresh, name, [self.visit(one) if isinstance(one, ast.AST) else one for one in value])
                elif isinstance(value, ast.AST):
                    setattr(fresh, name, self.visit(value))
            return fresh

    changed: ast.Module = Put().visit(tree)
    return changed


def code_at(code: CodeType, path: tuple[str, ...]) -> CodeType | None:
    for name in path:
        code = next((one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name), None)  # type: ignore[assignment]
        if code is None:
            return None
    return code


def function_at(file: Path, path: tuple[str, ...]) -> FunctionType | None:
    """Return the live function that a mutant stands for."""
    parts = file.relative_to(ROOT / "registry").with_suffix("").parts
    found: Any = importlib.import_module(".".join(("cdc_contracts", "registry", *parts)))
    for name in path:
        found = vars(found).get(name)
    for inner in ("fget", "func", "__func__", "__wrapped__"):
        found = getattr(found, inner, found) if not isinstance(found, FunctionType) else found
    return found if isinstance(found, FunctionType) else None


# --- the run


def verdict_on(mutant: Mutant, function: FunctionType, demands: list[Demand]) -> str:
    """Return whether some demand is not met any more, in a process of its own."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        os._exit(0 if survives(mutant, function, demands) else 1)
    _, status = os.waitpid(child, 0)
    return "survived" if status == 0 else "killed" if os.WIFEXITED(status) else "killed by the clock"


def survives(mutant: Mutant, function: FunctionType, demands: list[Demand]) -> bool:
    try:
        code = mutant.code()
        if code is None:
            return True
        function.__code__ = code
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("cdc_contracts.registry."):
                for one in vars(module).values():
                    if isinstance(one, functools._lru_cache_wrapper):  # noqa: SLF001
                        one.cache_clear()
        return all(demand.is_met() for demand in demands)
    except BaseException:  # noqa: BLE001  a mutant may fail in any way
        return False


def reached(demands: list[Demand]) -> set[tuple[str, str, int]]:
    """Return the functions that judging the demands runs through, by file, name and line."""
    found: set[tuple[str, str, int]] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            found.add((code.co_filename, code.co_name, code.co_firstlineno))

    sys.setprofile(note)
    try:
        for demand in demands:
            if not demand.is_met():
                sys.exit(f"{demand.declared} is not met by the code as it is")
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=250, help="so many mutants, drawn by the seed")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--every-version", action="store_true", help="demand all of it of all 31 versions")
    parser.add_argument("--only", default="", help="mutants whose place, as FILE:LINE FUNCTION, holds this")
    told = parser.parse_args()
    started = time.monotonic()
    versions = VERSIONS if told.every_version else [CATALOGUE.version(reference) for reference in FAMILIES]
    demands = [one for version in versions for one in demands_of(version)]
    demands.sort(key=lambda one: len(one.values))
    names = {(os.path.realpath(file), name, line) for file, name, line in reached(demands)}
    mutants = [one for file in TARGETS for one in mutants_of(file) if told.only in one.place]
    total = len(mutants)
    if not told.all and told.sample < total:
        chosen = random.Random(told.seed).sample(mutants, told.sample)  # noqa: S311  not for secrets
        mutants = sorted(chosen, key=str)
    print(f"{sum(len(one.values) for one in demands):,} records judged, of {len(versions)} versions; "
          f"{len(mutants):,} of {total:,} mutants, seed {told.seed}", flush=True)  # fmt: skip
    outcomes: Counter[str] = Counter()
    for mutant in mutants:
        function = function_at(mutant.file, tuple(mutant.function.split(".")))
        if function is None:
            outcome = "not run: not a plain function"
        elif (os.path.realpath(mutant.file), function.__name__, function.__code__.co_firstlineno) not in names:
            outcome = "not reached"
        else:
            outcome = verdict_on(mutant, function, demands)
        outcomes[outcome] += 1
        if not outcome.startswith("killed"):
            print(f"{outcome}: {mutant}", flush=True)
    print(dict(outcomes), f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
