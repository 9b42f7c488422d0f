"""Extras: packages that only some commands need, and how a missing one is installed."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.common.errors import UnavailableError

EXTRAS: Final = MappingProxyType({
    "numpy": "arrow", "pyarrow": "arrow", "pandas": "spark", "pyspark": "spark",
    "confluent_kafka": "kafka", "fastapi": "server", "psycopg": "server", "sqlalchemy": "server", "uvicorn": "server",
})  # fmt: skip
"""The extra that installs a package, by the name that is imported."""


def require_extra(extra: str) -> None:
    """Raise UnavailableError if one of the extra's own packages is not installed."""
    for package in (package for package, named in EXTRAS.items() if named == extra):
        try:
            found = find_spec(package)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise _missing(package)


def name_extra(error: BaseException) -> BaseException:
    """Return the error that names the extra if a package of one is missing, otherwise the error itself."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return _missing(package) if package in EXTRAS else error


def _missing(package: str) -> UnavailableError:
    extra = EXTRAS[package]
    beside = ", or 'cdc-contracts[spark]' to run Spark" if extra == "arrow" else ""
    return UnavailableError(
        f"this needs {package}, which is not installed", hint=f"pip install 'cdc-contracts[{extra}]'{beside}"
    )
