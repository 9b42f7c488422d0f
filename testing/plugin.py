"""The pytest plugin: fixtures for messages, a marker for every version of a contract, golden files.

pytest loads it in every run, so it imports the rest when a test uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cdc_contracts.testing.contract_cases import ContractCase
    from cdc_contracts.testing.golden_files import GoldenFile

MARK = "cdc_contract"
CASE = "cdc_case"
_ARGUMENTS = frozenset({"drift", "edges", "n", "seed", "table", "parameters", "contracts"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes golden files."""
    group = parser.getgroup("cdc-contracts")
    group.addoption("--cdc-update", action="store_true", help="write golden files instead of comparing with them")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "cdc_contract(reference, *, drift=(), edges=False, n=50, seed=1, table=None, parameters=None, contracts=None): "
        "run the test with messages of each version of a contract, in `cdc_case`",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that is marked with a contract once for each of its versions; a wrong mark is a failure to collect."""
    from cdc_contracts.registry.core.common.errors import CdcContractsError

    marks = list(metafunc.definition.iter_markers(MARK))
    if not marks:
        return
    name = metafunc.definition.nodeid
    if CASE not in metafunc.fixturenames:
        pytest.fail(f"{name} is marked {MARK} but does not use the fixture `{CASE}`", pytrace=False)
    for mark in marks:
        unknown = sorted(mark.kwargs.keys() - _ARGUMENTS)
        if unknown or len(mark.args) != 1:
            what = f"there is no argument `{unknown[0]}`" if unknown else "it takes one reference"
            example = f'@pytest.mark.{MARK}("dts/canal"), with any of {", ".join(sorted(_ARGUMENTS))}'
            pytest.fail(f"{name}: @pytest.mark.{MARK}: {what}; {example}", pytrace=False)
    try:
        cases = [case for mark in marks for case in _cases(*mark.args, **mark.kwargs)]
    except CdcContractsError as error:
        pytest.fail(f"{name}: @pytest.mark.{MARK}: {error}", pytrace=False)
    metafunc.parametrize(CASE, cases, ids=[_name_of(case) for case in cases], indirect=True)


@pytest.fixture
def cdc_case(request: pytest.FixtureRequest) -> ContractCase:
    """The messages of one version, with their rows; the marker `cdc_contract` runs a test with one for each version."""
    from cdc_contracts.registry.core.common.errors import CdcContractsError, UsageError

    case: ContractCase | None = getattr(request, "param", None)
    if case is None:
        raise pytest.UsageError(f'`{CASE}` needs a mark, such as @pytest.mark.{MARK}("dts/canal")')
    try:
        case.messages  # noqa: B018  they are made here, so that a version that cannot show a drift is skipped
    except CdcContractsError as error:
        if isinstance(error, UsageError) and case.kind not in ("stream", "edges"):
            pytest.skip(str(error))
        pytest.fail(f"{case.sender.reference}: {error}", pytrace=False)
    return case


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say in the report of a failing case what its version is."""
    report = yield
    case = getattr(getattr(item, "callspec", None), "params", {}).get(CASE)
    if report.failed and report.when == "call" and case is not None:
        from cdc_contracts.testing.contract_cases import ContractCase

        if isinstance(case, ContractCase):  # and no parameter of that name which is the test's own
            report.sections.append(("contract version", case.describe()))
    return report


@pytest.fixture(scope="session")
def cdc_messages() -> Callable[..., list[bytes]]:
    """`cdc_messages("dts/canal@2", n=50, table=..., seed=...)`: the arguments are those of `testing.messages`."""
    from cdc_contracts.registry.core.common.errors import CdcContractsError
    from cdc_contracts.testing.sent_messages import messages

    @wraps(messages)
    def send(*given: Any, **named: Any) -> list[bytes]:
        __tracebackhide__ = True
        try:
            return messages(*given, **named)
        except CdcContractsError as error:
            raise error.with_traceback(None) from None  # what is wrong is in the call, not in the frames below it

    return send


@pytest.fixture
def cdc_golden(request: pytest.FixtureRequest) -> GoldenFile:
    """`cdc_golden(value)` compares a value with a file beside the test; `--cdc-update` writes the file."""
    from cdc_contracts.testing.golden_files import FOLDER, GoldenFile

    folder = Path(request.path).parent / FOLDER
    return GoldenFile(folder, request.node.name, update=bool(request.config.getoption("--cdc-update")))


def _cases(
    reference: str,
    *,
    drift: str | Sequence[str] | bool = (),
    edges: bool = False,
    n: int = 50,
    seed: int = 1,
    **sending: Any,
) -> Iterator[ContractCase]:
    """Yield the cases of a mark: of each version a stream, and as it says edge rows and classes of drift."""
    from cdc_contracts.api.arguments import as_number
    from cdc_contracts.api.contracts import contract
    from cdc_contracts.testing.contract_cases import EDGES, STREAM, ContractCase
    from cdc_contracts.testing.sent_messages import MessageSender

    as_number("n", n, least=1)  # a test of no messages would pass
    as_number("seed", seed)
    kinds = [STREAM, *([EDGES] if edges else []), *_drifts(drift)]
    for version in contract(reference, contracts=sending.get("contracts")).versions:
        sender = MessageSender(version, **sending)
        yield from (ContractCase(sender, kind, n, seed) for kind in kinds)


def _drifts(drift: str | Sequence[str] | bool) -> list[str]:  # noqa: FBT001  as the mark has it
    """Return the classes or rules that a mark names. Raises UsageError if one is unknown: no version would show it."""
    from cdc_contracts.registry.core.common.errors import UsageError
    from cdc_contracts.registry.core.common.findings import CLASSES
    from cdc_contracts.registry.core.common.similar_names import similar_names
    from cdc_contracts.registry.core.generate.drifting_messages import find_drift_rule

    if isinstance(drift, bool):
        return [one.name for one in CLASSES.values() if one.breaks] if drift else []
    named, known = [drift] if isinstance(drift, str) else list(drift), [one.name for one in CLASSES.values()]
    for name in named:
        if name not in CLASSES and find_drift_rule(name) is None:
            close = similar_names(name, known)
            hint = f"Did you mean {', '.join(close)}?" if close else f"Use one of {', '.join(known)}."
            raise UsageError(f"`{name}` is not a drift class", where="drift", hint=hint)
    return named


def _name_of(case: ContractCase) -> str:
    return case.sender.reference if case.kind == "stream" else f"{case.sender.reference}-{case.kind}"
