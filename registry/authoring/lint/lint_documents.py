"""Lint documents: common parts of rules about documents: reading a document, and showing its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.lint.lint_rule import LintFault
from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.json_files import parse_json_file
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, AVRO_MESSAGE_SCHEMA, ENVELOPE, MESSAGE_SCHEMA

if TYPE_CHECKING:
    from cdc_contracts.registry.core.generate.contract_samples import Sample

OWN_FILES: Final = ("contract.yaml", ENVELOPE, AVRO_ENVELOPE, MESSAGE_SCHEMA, AVRO_MESSAGE_SCHEMA)


_LONGEST: Final = 60


def find_unreadable(file: Traversable, *, is_list: bool = False) -> Iterator[LintFault]:
    """Yield why a file is not one document in UTF-8 that names no key twice, if it is not."""
    if file.name.endswith(".yaml"):
        yield from _find_unreadable(file, lambda: read_yaml(file, is_list=is_list), is_list=is_list)
    else:
        yield from _find_unreadable(file, lambda: _parse_json(file.read_text(encoding="utf-8")))


def find_unreadable_expectation(sample: Sample) -> Iterator[LintFault]:
    """Yield the same for the expectation of a sample, which other rules read as well."""
    yield from _find_unreadable(sample.expectation, lambda: _parse_json(sample.expected_text))


def _find_unreadable(file: Traversable, read: Callable[[], Any], *, is_list: bool = False) -> Iterator[LintFault]:
    try:
        read()
    except UnicodeDecodeError:
        yield LintFault(file, "text in UTF-8", "other bytes")
    except ValueError as error:
        yield LintFault(file, "one JSON document", str(error))
    except ContractError as error:
        line = error.where.rpartition(":")[2]
        spot = (int(line), 1) if line.isdigit() and not is_list else None
        yield LintFault(file, "one YAML document", error.what.replace("\n", " "), spot=spot)


def read_yaml(file: Traversable, *, is_list: bool = False) -> dict[str, Any]:
    """Return what a YAML file holds, a list below `list`. Raises ContractError if it cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ContractError(yaml_documents.describe_unread(error), where=str(file)) from error
    return yaml_documents.parse_document(f"list:\n{text}" if is_list else text, str(file))


def _refuse_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object. Raises ValueError if a name occurs twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError("member `" + next(name for name in names if names.count(name) > 1) + "` occurs twice")
    return members


def _parse_json(text: str) -> Any:
    """Return what a JSON text holds. Raises ValueError if it is no JSON, nested too deeply, or names a member twice."""
    return parse_json_file(text, _refuse_duplicate_names)


def show_short(value: Any) -> str:
    """Return a value as it may be shown: `nothing` for none, and the beginning of what is long."""
    shown = "nothing" if value is None else str(value)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"
