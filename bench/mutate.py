"""Mutants of the validating kernel and the rules: which of them the generic tests notice.

    python bench/mutate.py [--sample N | --each N | --all] [--minutes M] [--seed S] [--only PART ...] [--every-version]

A mutant is one function with one thing changed: a comparison, a condition, a constant, a statement left out. It is put
into a forked process that holds everything else already, and validated by what the suite demands of every contract: the
verdicts of good and broken records in both orders and within long blocks, every column of all outputs, the columns
sighted and the counts of it all, as the reference has them. A demand that never runs the statement that is mutated is
not asked; the one that killed the last mutant is asked first. What nothing notices is printed, for `docs/mutation.md`
to explain.

Constants of modules, classes and default arguments are not mutated, nor are annotations, which nothing evaluates.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import gc
import importlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

import pyarrow as pa  # noqa: E402
from both_paths import CATALOGUE, VERSIONS, by_fast_path, samples, shown  # noqa: E402
from counts import counts_by_reference, counts_of, shown_sightings, sighted_by_reference  # noqa: E402
from output_rows import (  # noqa: E402
    OUTPUTS,
    expected_columns,
    judged_by_reference,
    records_of,
    reference_rows,
    tables_of,
    within_a_batch,
)
from rule_violations import (  # noqa: E402
    BREAKERS,
    absent_and_null_images,
    alike_drifts,
    good_records,
    hiding,
    in_blocks,
    neighbours,
    pairs_of,
    scope_of,
)

from cdc_contracts.registry.core.contract.catalogue import Version  # noqa: E402
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions  # noqa: E402
from cdc_contracts.registry.core.contract.version_files import parse_versions  # noqa: E402
from cdc_contracts.registry.core.detect.topic_samples import find_validation  # noqa: E402
from cdc_contracts.registry.core.engine.fast_validator import FastValidator  # noqa: E402
from cdc_contracts.registry.core.engine.kernel import Kernel  # noqa: E402
from cdc_contracts.registry.core.generate.event_streams import row_stream  # noqa: E402
from cdc_contracts.registry.core.generate.rendering import Renderer  # noqa: E402
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns  # noqa: E402
from cdc_contracts.registry.core.stats.tally import Tally  # noqa: E402
from cdc_contracts.registry.core.stats.version_runs import leave_out_open  # noqa: E402
from cdc_contracts.registry.core.validate.described_contexts import open_ranges  # noqa: E402
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext  # noqa: E402
from cdc_contracts.registry.core.validate.verdicts import AMBIGUOUS, CONFORMING  # noqa: E402

TARGETS = (
    *sorted(path for path in ROOT.glob("registry/core/engine/**/*.py") if path.parent.name != "native"),
    *sorted(ROOT.glob("registry/core/validate/drift_*s/*.py")),
    *(
        ROOT / f"registry/core/{name}.py"
        for name in (
            "records/record_batches",
            "records/message_values",
            "contract/relations",
            "validate/rule_inputs",
        )
    ),
)
SECONDS = 40
"""Of processor time that a mutant has."""
FAMILIES = (
    "oms-community/canal@2", "dts/canal@2", "drs/json@2", "oms-community/default@2", "oms-community/shareplex@2",
    "dataworks/streamx@1", "oms/debezium@1", "oms/debezium-smt@1", "dts/avro@1",
)  # fmt: skip
"""One version of each family of dialects: what is demanded, unless of all 31."""
MAPS = ("before", "after", "column_types")


# --- what is demanded of every mutant

Columns = dict[str, dict[str, list[Any]]]
"""The values of every column of every output, by their names."""


@dataclass(frozen=True)
class ComparisonRequest:
    """Records of one version, in the order they are validated in, and what they have to come to."""

    told: str
    declared: str
    values: tuple[bytes | None, ...]
    block: tuple[bytes, ...]
    alike: tuple[bytes, ...]
    verdicts: Mapping[bytes | None, Any]
    columns: Columns
    sighted: Any
    counts: Any

    def forwards(self) -> bool:
        return self._keeps_verdicts(FastValidator(scope_of(self.declared)), self.values)

    def backwards_and_again(self) -> bool:
        validator = FastValidator(scope_of(self.declared))
        return self._keeps_verdicts(validator, self.values[::-1]) and self._keeps_verdicts(validator, self.values)

    def without_images(self) -> bool:
        validator, batches = (
            FastValidator(scope_of(self.declared)),
            absent_and_null_images(CATALOGUE.version(self.told)),
        )
        return all(self._keeps_verdicts(validator, values) for values in batches)

    def in_long_blocks(self) -> bool:
        return self._keeps_verdicts(FastValidator(scope_of(self.declared)), self.block)

    def together(self) -> bool:
        return not FastValidator(scope_of(self.declared)).validate(self.alike, texts=True).alone

    def rows(self) -> bool:
        return rows_of(scope_of(self.declared), within_a_batch(self.values)) == (self.columns, self.sighted)

    def numbers(self) -> bool:
        kernel = Kernel(scope_of(self.declared))
        return counts_of(kernel.audit(within_a_batch(self.values))) == self.counts

    @property
    def checks(self) -> tuple[Check, ...]:
        return (
            self.without_images,
            self.in_long_blocks,
            self.together,
            self.forwards,
            self.backwards_and_again,
            self.rows,
            self.numbers,
        )

    def _keeps_verdicts(self, validator: FastValidator, values: Sequence[bytes | None]) -> bool:
        found = map(shown, by_fast_path(validator, values))
        return all(one == self.verdicts[value] for value, one in zip(values, found, strict=True))


@dataclass(frozen=True)
class TopicDemand:
    """Records of a topic of several subjects or versions, and what they have to come to."""

    name: str
    validation: ValidationContext
    records: pa.RecordBatch
    columns: Columns
    counts: Any

    def rows(self) -> bool:
        return by_coordinates(rows_of(self.validation, self.records)[0]) == self.columns

    def rows_of_cuts(self) -> bool:
        cuts = [self.records.slice(start, 5) for start in range(0, self.records.num_rows, 5)]
        return by_coordinates(rows_of(self.validation, *cuts)[0]) == self.columns

    def numbers(self) -> bool:
        return topic_counts(Kernel(self.validation).audit(self.records)) == self.counts

    @property
    def checks(self) -> tuple[Check, ...]:
        return (self.numbers, self.rows, self.rows_of_cuts)


def rows_of(validation: ValidationContext, *batches: pa.RecordBatch) -> tuple[Columns, Any]:
    """Return every column of all outputs, and the columns that were sighted."""
    kernel = Kernel(validation)
    parts = [part for records in batches for part in kernel.decode(records)]
    written = tables_of(parts)
    columns = {name: {one: table.column(one).to_pylist() for one in table.column_names}
               for name, table in written.items()}  # fmt: skip
    observed = ObservedColumns()
    for one in parts:
        observed.merge(one.observed)
    return without_order(columns), shown_sightings(observed)


def without_order(columns: Columns) -> Columns:
    """Return the columns with maps whose members have no order."""
    return {
        name: {column: [dict(one) if column in MAPS and one is not None else one for one in values]
               for column, values in found.items()}
        for name, found in columns.items()
    }  # fmt: skip


def by_coordinates(columns: Columns) -> Columns:
    """Return the columns with rows in order of topic, partition and offset: parts of a batch are put together so."""
    sorted_ = {}
    for output, found in columns.items():
        places = list(zip(found["topic"], found["partition"], found["offset"], strict=True))
        order = sorted(range(len(places)), key=places.__getitem__)
        sorted_[output] = {name: [values[at] for at in order] for name, values in found.items()}
    return sorted_


def demands_of(version: Version) -> Iterator[ComparisonRequest]:
    """Yield what is demanded of a version: declared by itself, and by its subject where that has several."""
    values = (*values_of(version), None)
    for declared in (version.reference, version.subject):
        if declared == version.subject and len(CATALOGUE.versions(version.subject)) < 2:  # noqa: PLR2004
            continue
        validation, records = scope_of(declared), within_a_batch(values)
        validated = judged_by_reference(validation, records)
        told = reference_rows(validated)
        columns = without_order({name: dict(expected_columns(name, told[name])) for name in OUTPUTS})
        verdicts = {value: shown(one.verdict) for value, (_, one) in zip(values, validated, strict=True)}
        some = [value for value in values if value][:: len(values) // 6]
        goods, drifting = pairs_of(version, alike_drifts)
        alike = (*goods, *drifting) if version.meaning.transport == "json" else ()
        sighted = sighted_by_reference(one for _, one in validated)
        block = in_blocks(conforming(values, verdicts), some)
        counts = counts_by_reference(validated)
        yield ComparisonRequest(version.reference, declared, values, block, alike, verdicts, columns, sighted, counts)


def conforming(values: Sequence[bytes | None], verdicts: Mapping[bytes | None, Any]) -> bytes:
    """Return the last of some records that fits."""
    return next(value for value in values[::-1] if value and verdicts[value][0] in (CONFORMING, AMBIGUOUS))


def values_of(version: Version) -> tuple[bytes, ...]:
    """Return samples, mutations and a stream of a version."""
    chosen = [value for _, value in samples()[version.reference]]
    chosen = chosen[:: max(1, len(chosen) // 25)]
    for name in (*version.meaning.rules, *version.meaning.notes):
        goods, broken = pairs_of(version, BREAKERS[name])
        chosen += [*goods, *broken[:: max(1, len(broken) // 8)]]
    around = pairs_of(version, neighbours)[1]
    chosen += around[:: max(1, len(around) // 25)]
    if version.meaning.transport == "json":
        chosen += [value for value, _ in hiding(good_records(version)[0], every=29)]
    chosen += [value for pair in absent_and_null_images(version) for value in pair[-2:]]
    chosen += Renderer(version, ReadingOptions()).render_all(row_stream(3, 8, snapshot=1, controls=5))
    return tuple(dict.fromkeys(chosen))


def topic_demands() -> Iterator[TopicDemand]:
    """Yield what is demanded of topics whose records are of several subjects, or of versions that ranges declare."""
    old, new, other = (
        tuple(
            Renderer(CATALOGUE.version(reference), ReadingOptions()).render_all(
                row_stream(3, 16, snapshot=1, controls=5)
            )
        )
        for reference in ("dts/canal@1", "dts/canal@2", "oms-community/debezium@1")
    )
    odd = (value for reference in ("dts/canal@1", "dts/canal@2") for _, value in samples()[reference][::2])
    values = [*old, *new, *other, *odd, b"{}", None]
    mixed = records_of(random.Random(3).sample(values, len(values)))  # noqa: S311  not for secrets
    partitions = {0: [{"to": 50, "contract": "dts/canal@1"}, {"from": 70, "contract": "dts/canal@2"}],
                  1: [{"to": "2023-11-14T22:13:20.000030Z", "contract": "dts/canal@1"}]}  # fmt: skip
    ranges = parse_versions({"topics": {"t": partitions, "u": {"all": [{"contract": "dts/canal@2"}]}}}, "", CATALOGUE)
    ranged = open_ranges(CATALOGUE, ranges, ReadingOptions())
    several, _ = find_validation(Undetected(CATALOGUE, ReadingOptions()), lambda: [mixed])
    for name, validation in (("ranges", ranged), ("several subjects", several)):
        plain = judged_by_reference(validation, mixed)
        if validation.ranges is not None:
            places = [[one[name] for name in ("topic", "partition", "offset", "timestamp")] for one, _ in plain]
            plain = [
                (one, validation.at(*at).validate(one["value"])) for at, (one, _) in zip(places, plain, strict=True)
            ]
        told = reference_rows(plain)
        columns = without_order({name: dict(expected_columns(name, told[name])) for name in OUTPUTS})
        total = Tally()
        for place in range(mixed.num_rows):
            total.merge(Kernel(validation).audit(mixed.slice(place, 1)))
        yield TopicDemand(name, validation, mixed, by_coordinates(columns), topic_counts(total))


def topic_counts(tally: Tally) -> Any:
    """Return what the records of a topic come to, however they are cut."""
    findings = {key: (one.severity, one.count, one.expected, one.contracts) for key, one in tally.findings.items()}
    runs = {source: leave_out_open(runs) for source, runs in tally.runs.items()}
    return tally.partitions, tally.outcomes, tally.readable, findings, tally.evidence_by_message, runs


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

    @functools.cached_property
    def statement(self) -> range:
        """The lines of the innermost statement that is changed; of the whole function where it yields no more."""
        found = function = next(node for path, node in functions_of(self.tree) if path == self.path)
        at: ast.AST = function
        yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(self.before))
        while at is not self.before and not yields:
            at = next(one for one in ast.iter_child_nodes(at) if any(self.before is below for below in ast.walk(one)))
            found = at if isinstance(at, ast.stmt) else found
        return range(found.lineno, (found.end_lineno or found.lineno) + 1)

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
        for node in evaluated(function):
            line = getattr(node, "lineno", getattr(getattr(node, "target", None), "lineno", function.lineno))
            for variant in variants(node):
                yield Mutant(file, tree, path, line, node, variant)


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what lies below a node but for annotations, which nothing evaluates."""
    for name, value in ast.iter_fields(node):
        for below in value if isinstance(value, list) else [value]:
            if isinstance(below, ast.AST) and name not in ("annotation", "returns"):
                yield below
                yield from evaluated(below)


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

Check = Callable[[], bool]
"""One thing that is demanded; says whether it is met."""


@dataclass
class Checks:
    """What is demanded, the checks that killed lately first; `lines` are those of the modules that each runs."""

    checks: list[Check]
    lines: dict[Check, set[tuple[str, int]]]

    def of(self, mutant: Mutant) -> list[Check]:
        """Return the checks that run the statement of a mutant."""
        places = {(os.path.realpath(mutant.file), line) for line in mutant.statement}
        return [one for one in self.checks if places & self.lines[one]]

    def prefer(self, check: Check) -> None:
        self.checks.remove(check)
        self.checks.insert(0, check)


def verdict_on(mutant: Mutant, function: FunctionType, checks: Checks) -> str:
    """Return whether some demand is not met any more, in a process of its own."""
    asked = checks.of(mutant)
    if not asked:
        return "not reached"
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        os._exit(killer_of(mutant, function, asked))
    _, status = os.waitpid(child, 0)
    if not os.WIFEXITED(status):
        return "killed by the clock"
    if os.WEXITSTATUS(status) == 0:
        return "survived"
    checks.prefer(asked[os.WEXITSTATUS(status) - 1])
    return "killed"


def killer_of(mutant: Mutant, function: FunctionType, checks: Sequence[Check]) -> int:
    """Return the number of the first check that is not met, counted from 1; 0 where all are."""
    number = 1
    try:
        code = mutant.code()
        if code is None:
            return 0
        function.__code__ = code
        forget()
        for number, check in enumerate(checks, 1):
            if not check():
                return number
    except BaseException:  # noqa: BLE001  a mutant may fail in any way
        return number
    return 0


def forget() -> None:
    """Empty the caches of the modules of the registry."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("cdc_contracts.registry."):
            for one in vars(module).values():
                if isinstance(one, functools._lru_cache_wrapper):  # noqa: SLF001
                    one.cache_clear()


def open_checks(checks: Iterable[Check]) -> Checks:
    """Return checks with the lines that each runs; ends the run where the code as it is does not meet one."""
    files = {os.path.realpath(file) for file in TARGETS}
    names: dict[str, str | None] = {}
    lines: dict[Check, set[tuple[str, int]]] = {}
    for check in checks:
        found: set[tuple[str, int]] = set()

        def note(frame: Any, event: str, _: Any, found: set[tuple[str, int]] = found) -> Any:
            name = frame.f_code.co_filename
            if name not in names:
                real = os.path.realpath(name)
                names[name] = real if real in files else None
            file = names[name]
            if file is None:
                return None
            found.add((file, frame.f_lineno))
            return note

        forget()
        sys.settrace(note)
        try:
            if not check():
                sys.exit(f"{shown_check(check)} is not met by the code as it is")
        finally:
            sys.settrace(None)
        lines[check] = found
    return Checks(list(lines), lines)


def shown_check(check: Any) -> str:
    demand = check.__self__
    return f"{getattr(demand, 'declared', '') or demand.name}: {check.__name__}"


def drawn(told: argparse.Namespace) -> tuple[list[Mutant], int]:
    """Return the mutants to validate in order, and of how many they were drawn; so many of each file come in turns."""
    only = told.only or [""]
    by_file = [[one for one in mutants_of(file) if any(part in one.place for part in only)] for file in TARGETS]
    mutants = [one for found in by_file for one in found]
    total, draw = len(mutants), random.Random(told.seed)  # noqa: S311  not for secrets
    if told.each:
        chosen = [draw.sample(found, min(told.each, len(found))) for found in by_file]
        return [one for turn in zip_longest(*chosen) for one in turn if one is not None], total
    if not told.all and told.sample < total:
        mutants = draw.sample(mutants, told.sample)
    return sorted(mutants, key=lambda one: (one.file, one.line, str(one))), total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=250, help="so many mutants, drawn by the seed")
    parser.add_argument("--each", type=int, default=0, help="so many mutants of each file instead")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="validate no other mutant after so long")
    parser.add_argument("--all", action="store_true", help="every mutant")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--every-version", action="store_true", help="demand all of it of all 31 versions")
    parser.add_argument("--only", nargs="+", help="mutants whose place, as FILE:LINE FUNCTION, holds one of these")
    told = parser.parse_args()
    started = time.monotonic()
    versions = VERSIONS if told.every_version else [CATALOGUE.version(reference) for reference in FAMILIES]
    demands = [one for version in versions for one in demands_of(version)]
    checks = open_checks(check for one in (*demands, *topic_demands()) for check in one.checks)
    mutants, total = drawn(told)
    print(f"{sum(len(one.values) for one in demands):,} records validated, of {len(versions)} versions; "
          f"{len(mutants):,} of {total:,} mutants, seed {told.seed}; "
          f"ready after {time.monotonic() - started:.0f} s", flush=True)  # fmt: skip
    outcomes: dict[str, Counter[str]] = {}
    gc.freeze()
    for mutant in mutants:
        if time.monotonic() - started > 60 * told.minutes:
            break
        function = function_at(mutant.file, tuple(mutant.function.split(".")))
        outcome = "not a plain function" if function is None else verdict_on(mutant, function, checks)
        outcomes.setdefault(str(mutant.file.relative_to(ROOT)), Counter())[outcome] += 1
        if not outcome.startswith("killed"):
            print(f"{outcome}: {mutant}", flush=True)
    for name, found in outcomes.items():
        print(f"{name}: {dict(found)}")
    print(dict(sum(outcomes.values(), Counter())), f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
