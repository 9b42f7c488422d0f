"""Versioned contracts for change data capture messages: lint, compare, audit, decode."""

__version__: str


def __getattr__(name: str) -> str:
    """Give `__version__`; what is installed is looked up only when asked for, as that takes longer than `--help`."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cdc-contracts")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0+unknown"
