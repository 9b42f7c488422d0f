"""Extras: packages that only some commands need, and how a missing one is installed."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.common.errors import UnavailableError

EXTRAS: Final = MappingProxyType({
    "numpy": "arrow", "pyarrow": "arrow", "pandas": "spark", "pyspark": "spark",
    "openlineage": "openlineage", "confluent_kafka": "kafka",
    "fastapi": "server", "psycopg": "server", "sqlalchemy": "server", "uvicorn": "server",
})  # fmt: skip
"""The extra that installs a package, by the name that is imported."""
_INSTALLED_AS: Final = MappingProxyType({"openlineage": "openlineage-python"})


def has_extra(extra: str) -> bool:
    """Return whether all of the extra's own packages are installed."""
    return all(map(_is_installed, packages_of(extra)))


def require_extra(extra: str) -> None:
    """Raise UnavailableError if one of the extra's own packages is not installed."""
    require_packages(*packages_of(extra))


def require_packages(*packages: str) -> None:
    """Raise UnavailableError if one of some packages of extras, by the names that are imported, is not installed."""
    for package in packages:
        if not _is_installed(package):
            raise _missing(package)


def packages_of(extra: str) -> list[str]:
    """Return the extra's own packages, by the names that are imported."""
    return [package for package, named in EXTRAS.items() if named == extra]


def installed_as(package: str) -> str:
    """Return the name by which a package is installed, by the name that is imported."""
    return _INSTALLED_AS.get(package, package.replace("_", "-"))


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def name_extra(error: BaseException) -> BaseException:
    """Return the error that names the extra if a package of one is missing, otherwise the error itself."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return _missing(package) if package in EXTRAS else error


def _missing(package: str) -> UnavailableError:
    extra = EXTRAS[package]
    beside = ", or 'cdc-contracts[spark]' to run Spark" if extra == "arrow" else ""
    return UnavailableError(
        f"this needs {installed_as(package)}, which is not installed",
        hint=f"pip install 'cdc-contracts[{extra}]'{beside}",
    )
