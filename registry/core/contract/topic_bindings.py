"""Topic bindings: the contract of a topic, written into `cdc-contracts.yaml` without changing anything else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.atomic_files import write_whole
from cdc_contracts.registry.core.common.errors import ContractError, UsageError
from cdc_contracts.registry.core.contract.settings import FILE

_SECTION: Final = "topics"
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}\Z", re.ASCII)
_PLAIN: Final = re.compile(r"(?!(?:true|false|null|yes|no|on|off)\Z)[A-Za-z_][A-Za-z0-9._-]*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class BoundTopic:
    """The change made by binding a topic; None means no binding."""

    topic: str
    before: str | None
    after: str | None


def bind_topic(folder: Path, topic: str, reference: str | None) -> BoundTopic:
    """Bind a topic to a contract in the settings of a folder, or to none; comments and order stay.

    Raises UsageError if the topic has no name that Kafka takes, ContractError if the file is no YAML mapping or
    is written in a way that only a person can change, UnavailableError if it cannot be written.
    """
    if not _TOPIC.match(topic) or topic in (".", ".."):
        raise UsageError(f"`{topic}` is not a topic name", hint="Use letters, digits, dots, _ and -, at most 249.")
    file = folder / FILE
    text = _read(file)
    given = yaml_documents.parse_document(text, str(file), may_be_empty=True)
    topics = given.get(_SECTION) or {}
    if not isinstance(topics, dict):
        raise ContractError("`topics` is not a mapping of topics to contracts", where=str(file))
    before = topics.get(topic)
    if before == reference:
        return BoundTopic(topic, before, reference)
    wanted = {**topics, topic: reference}
    if reference is None:
        del wanted[topic]
    changed = _change(text, topic, reference)
    found = yaml_documents.parse_document(changed, str(file))
    if {**found, _SECTION: found.get(_SECTION) or {}} != {**given, _SECTION: wanted}:
        raise ContractError(
            "the format of `topics` cannot be edited automatically",
            where=str(file),
            hint=f"Write `{topic}: {reference}` there.",
        )
    write_whole(file, changed.encode())
    return BoundTopic(topic, before, reference)


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode() if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(yaml_documents.describe_unread(error), where=str(file)) from error


def _change(text: str, topic: str, reference: str | None) -> str:
    """Return the text with the binding in it, or without it."""
    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    section = next(((key, value) for key, value in pairs if key.value == _SECTION), None)
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"{topic if _PLAIN.match(topic) else repr(topic)}: {reference}"
    if section is None:
        whole = text if not text or text.endswith("\n") else text + end
        return f"{whole}{_SECTION}:{end}  {line}{end}"
    key, node = section
    if not isinstance(node, yaml.MappingNode):  # `topics:` and nothing
        at = _line_end(text, key.end_mark.index)
        return f"{text[:at]}{end}  {line}{text[at:]}"
    entry = next(((name, value) for name, value in node.value if name.value == topic), None)
    if entry is not None and reference is not None:
        value = entry[1]
        return text[: value.start_mark.index] + reference + text[value.end_mark.index :]
    if entry is not None:
        return _without(text, node, entry)
    if node.flow_style:
        at = node.end_mark.index - 1
        return f"{text[:at].rstrip()}{', ' if node.value else ''}{line}{text[at:]}"
    at = _line_end(text, node.value[-1][1].end_mark.index)
    return f"{text[:at]}{end}{' ' * node.value[0][0].start_mark.column}{line}{text[at:]}"


def _without(text: str, node: yaml.MappingNode, entry: tuple[yaml.Node, yaml.Node]) -> str:
    """Return the text without an entry of the section."""
    key, value = entry
    if len(node.value) == 1:
        return f"{text[: node.start_mark.index].rstrip()} {{}}{text[_end_of(node, value) :]}"
    if node.flow_style:
        index = node.value.index(entry)
        if index + 1 < len(node.value):
            return text[: key.start_mark.index] + text[node.value[index + 1][0].start_mark.index :]
        return text[: node.value[index - 1][1].end_mark.index] + text[value.end_mark.index :]
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    return text[:start] + text[_line_end(text, value.end_mark.index) :].removeprefix("\r").removeprefix("\n")


def _end_of(node: yaml.MappingNode, last: yaml.Node) -> int:
    """Return where a mapping ends; in block style a node reaches to what follows it, comments and all."""
    return int(node.end_mark.index if node.flow_style else last.end_mark.index)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    if found < 0:
        return len(text)
    return found - 1 if text[found - 1] == "\r" else found
