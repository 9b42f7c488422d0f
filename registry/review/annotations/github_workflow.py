"""GitHub workflow commands, by which annotations appear on the lines of a pull request."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.common.findings import ERROR, INFO, WARNING
from cdc_contracts.registry.common.safe_text import visible
from cdc_contracts.registry.review.annotations.annotation import (
    Annotation,
    Review,
    heaviest_first,
    relative_to_repository,
)

_LONGEST_TITLE: Final = 200
_COMMANDS: Final = {ERROR: "error", WARNING: "warning", INFO: "notice"}


def render_workflow(review: Review) -> str:
    """Return a workflow command for each annotation that is not ignored, the heaviest first.

    GitHub shows the first ten of a kind that one step writes.
    """
    return "".join(_command(one) + "\n" for one in heaviest_first(review))


def _command(one: Annotation) -> str:
    # a finding about a whole file is shown on its first line
    places = {"file": relative_to_repository(one.file), "line": one.line or 1, "col": one.column}
    given = {**places, "title": visible(f"{one.rule} {one.name} {one.path}".rstrip(), most=_LONGEST_TITLE)}
    result = ",".join(f"{name}={_property(visible(str(value), most=None))}" for name, value in given.items() if value)
    text = "\n".join(visible(line, most=None) for line in one.lines)
    return f"::{_COMMANDS[one.severity]} {result}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
