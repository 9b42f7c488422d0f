"""Versioned contracts for change data capture messages: lint, compare, audit, decode."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("cdc-contracts")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0+unknown"
