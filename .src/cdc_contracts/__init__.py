"""Versioned contracts for change data capture messages: lint, compare, audit, decode.

```python
import cdc_contracts as cdc

orders = cdc.contract("dts/canal@2")
for change in orders.decode(message).changes:
    print(change.op, change.table, change.row)
```

Everything here is imported when it is first used.
"""

from importlib import import_module
from types import MappingProxyType

_HOMES = MappingProxyType({
    "CdcContractsError": "registry.core.common.errors",
    "UndecidedError": "registry.core.common.errors",
    "UsageError": "registry.core.common.errors",
    "audit": "api.spark_frames",
    "contract": "api.contracts",
    "decode": "api.spark_frames",
    "detect": "api.contracts",
    "Contract": "api.contracts",
    "Message": "api.messages",
    "AuditReport": "api.results",
    "Change": "api.results",
    "CheckedMessage": "api.results",
    "Control": "api.results",
    "DecodedBatch": "api.batches",
    "DecodedFrames": "api.spark_frames",
    "DecodedMessage": "api.results",
    "Detection": "api.results",
    "ExplainedFinding": "api.results",
    "Explanation": "api.results",
    "Finding": "api.results",
    "FrameAudit": "api.spark_frames",
    "ReportedDrift": "api.results",
    "UndecidedChange": "api.results",
})  # fmt: skip

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605  typed in __init__.pyi


def __getattr__(name: str) -> object:
    """Import a name when it is first used; the version that is installed takes longer to look up than `--help`."""
    if name in _HOMES:
        found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name == "__version__":
        found = _installed_version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cdc-contracts")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0+unknown"
