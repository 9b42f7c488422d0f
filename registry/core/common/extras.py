"""Extras: packages that only some commands need, and how a missing one is installed."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from cdc_contracts.registry.core.common.errors import UnavailableError

EXTRAS: Final = MappingProxyType({
    "numpy": "arrow", "pyarrow": "arrow", "pandas": "spark", "pyspark": "spark",
    "openlineage": "openlineage", "confluent_kafka": "kafka",
    "fastapi": "server", "psycopg": "server", "sqlalchemy": "server", "uvicorn": "server",
})  # fmt: skip
"""The extra that installs a package, by the name that is imported."""
_NAME: Final = "cdc-contracts"
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


def install_command(*extras: str) -> str:
    """Return the command that installs this package with extras, from where it was installed itself.

    That may be a checkout, a wheel or a repository: `direct_url.json` of an installation says so (PEP 610).
    """
    wanted = f"[{','.join(extras)}]"
    place = _direct_url()
    match place:
        case {"url": str(url), "dir_info": {"editable": True}}:
            return f"pip install -e '{_path_of(url)}{wanted}'"
        case {"url": str(url), "vcs_info": {"vcs": str(kind), "commit_id": str(commit)}}:
            return f"pip install '{_NAME}{wanted} @ {kind}+{url}@{commit}'"
        case {"url": str(url)}:
            return f"pip install '{_NAME}{wanted} @ {url}'"
    return f"pip install '{_NAME}{wanted}'"


def _direct_url() -> object:
    import json
    from importlib.metadata import PackageNotFoundError, distribution  # here, as it takes long to import

    try:
        text = distribution(_NAME).read_text("direct_url.json")
        return json.loads(text) if text else None
    except (PackageNotFoundError, ValueError):
        return None


def _path_of(url: str) -> str:
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(url).path)


def _missing(package: str) -> UnavailableError:
    extra = EXTRAS[package]
    beside = f", or with [spark] in place of [{extra}] to run Spark" if extra == "arrow" else ""
    return UnavailableError(
        f"this needs {installed_as(package)}, which is not installed", hint=f"{install_command(extra)}{beside}"
    )
