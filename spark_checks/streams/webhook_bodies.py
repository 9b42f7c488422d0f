"""Webhook bodies: findings of a batch in the shape that a receiver takes, by a template in JSON.

In the strings of a template, `$name` stands for a value of `NAMES`; a string `"$document"` stands for all that is
posted without a template.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError, refused
from cdc_contracts.registry.core.common.findings import ERROR, WARNING
from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.report_wording import count_of

TOKEN: Final = "token"  # noqa: S105  a name, not a token
DOCUMENT: Final = "document"
NAMES: Final = (
    "title", "summary", "findings", "severity", "contract", "topics", "verdict", "read", "quarantined", "stream",
    "batch", "id", TOKEN,
)  # fmt: skip
_SHIPPED: Final = files("cdc_contracts.spark_checks.streams").joinpath("webhook_templates")
_MOST_FINDINGS: Final = 10
_MOST_CHARACTERS: Final = 2_500
"""Slack takes 3,000 characters in a block."""
_MOST_IN_TITLE: Final = 150
"""Slack takes 150 in a header."""


class WebhookTemplate:
    """A template of what is posted."""

    def __init__(self, template: Any, where: str) -> None:
        """Raise UsageError if a string of the template has a `$name` that stands for nothing."""
        self._template = template
        self.names: set[str] = set()
        """The values that it uses."""
        self._map(template, lambda text: self._note(text, where))

    def fill(self, document: Mapping[str, Any], token: str | None) -> Any:
        """Return the body for a document of `findings_document`."""
        values = _describe(document) | {TOKEN: token or ""}

        def replace(text: str) -> Any:
            return document if text == f"${DOCUMENT}" else Template(text).substitute(values)

        return self._map(self._template, replace)

    def _note(self, text: str, where: str) -> str:
        template = Template(text)
        wrong = [one for one in template.get_identifiers() if one not in NAMES and text != f"${DOCUMENT}"]
        if wrong or not template.is_valid():
            what = f"${wrong[0]} stands for nothing" if wrong else "a `$` without a name"
            raise UsageError(
                f"{what} in `{visible(text)}`", where=where, hint=f"Names are {', '.join(NAMES)}; $$ is a $."
            )
        self.names.update(template.get_identifiers())
        return text

    def _map(self, value: Any, change: Callable[[str], Any]) -> Any:
        match value:
            case str():
                return change(value)
            case dict():
                return {key: self._map(one, change) for key, one in value.items()}
            case list():
                return [self._map(one, change) for one in value]
        return value


def read_template(name: str) -> WebhookTemplate:
    """Return the template of this name, or that of a file. Raises UsageError if there is none, or it is not one."""
    shipped = sorted(path.name.removesuffix(".json") for path in _SHIPPED.iterdir())
    if name in shipped:
        text = _SHIPPED.joinpath(f"{name}.json").read_text(encoding="utf-8")
    elif not Path(name).exists():
        raise UsageError("there is no such template", where=name, hint=f"Give a file, or one of: {', '.join(shipped)}.")
    else:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise refused(error, name) from error
    try:
        return WebhookTemplate(json.loads(text), name)
    except ValueError as error:
        raise UsageError(f"the template is not JSON: {error}", where=name) from error


def _describe(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a document as texts; what comes from messages is shown without control characters."""
    found = document["findings"]
    topics = ", ".join(document["topics"]) or document["stream"]
    grave = any(one["severity"] == ERROR for one in found)
    return {
        **{
            name: str(document[name])
            for name in ("contract", "verdict", "read", "quarantined", "stream", "batch", "id")
        },
        "topics": topics,
        "severity": ERROR if grave else WARNING,
        "title": f"CDC drift in {topics}"[:_MOST_IN_TITLE],
        "summary": (
            f"{count_of(len(found), 'finding')} under {visible(document['contract'])}: batch {document['batch']}, "
            f"{document['read']:,} records read, {document['quarantined']:,} quarantined"
        ),
        "findings": _list_findings(found),
    }


def _list_findings(found: list[dict[str, Any]]) -> str:
    lines = [
        f"{one['severity']} {one['class']}: {count_of(one['count'], 'message')}{_place_of(one)}. "
        + visible(one["explanation"])
        for one in found[:_MOST_FINDINGS]
    ]
    more = f"\n… and {len(found) - _MOST_FINDINGS:,} more" if len(found) > _MOST_FINDINGS else ""
    text = "\n".join(lines)
    return (text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…") + more


def _place_of(finding: Mapping[str, Any]) -> str:
    table, path, first = finding["table"], finding["path"], finding["first"]
    of = f" of {visible(table)}" if table else ""
    at = f" at {visible(path)}" if path else ""
    since = f", first {visible(first['topic'])}/{first['partition']}@{first['offset']}" if first else ""
    return of + at + since
