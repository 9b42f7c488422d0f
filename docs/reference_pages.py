"""Reference pages from the code: rules, keys of documents, metrics and the Python interface."""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from itertools import groupby
from typing import Any, Final

from command_pages import cell
from interface_page import describe_exports, describe_function, describe_types

import cdc_contracts
from cdc_contracts import testing
from cdc_contracts.api import contracts, message_batches, messages, results
from cdc_contracts.cli.app import main
from cdc_contracts.registry.authoring.explain.rulebook import rules
from cdc_contracts.registry.server.service.server_metrics import ServerMetrics
from cdc_contracts.spark_checks import table_readers
from cdc_contracts.spark_checks.streams.stream_metrics import StreamMetrics
from cdc_contracts.testing import strategies

_FAMILIES: Final = {
    "drift": "Drift: classes of findings in messages",
    "cross-field": "Drift: rules across fields",
    "lint": "Lint: contracts",
    "table": "Lint: table contracts",
    "json-schema": "Compatibility: JSON Schemas",
    "avro": "Compatibility: Avro schemas",
    "meaning": "Compatibility: meaning",
    "publication": "Compatibility: published versions",
    "table-versions": "Compatibility: versions of a table contract",
}
_FILES: Final = {
    "contract": "contract.yaml",
    "mapping": "types/\\*.yaml: value mappings",
    "table": "Table contracts",
    "registry": "registry.yaml",
    "users": "Users of a registry",
    "versions": "Versions files",
    "errata": "errata.yaml",
    "documents": "documents.yaml",
}


def rules_page() -> str:
    """Return every rule by its id, with its examples."""
    lines = ["# Rules", "", "Every finding names a rule by an id that never changes. `cdc-contracts rules show ID`"]
    lines += ["prints the same.", ""]
    for family, members in groupby(rules(), key=lambda rule: rule.family):
        lines += [f"## {_FAMILIES.get(family, family)}", ""]
        for rule in members:
            title = rule.id if rule.name in rule.id else f"{rule.id} {rule.name}"
            rows = {"why": rule.why, "good": rule.good, "bad": rule.bad, "fix": rule.action}
            rows["Confluent"] = rule.confluent or ""
            lines += [f"### {title} {{#{rule.id.lower()}}}", "", f"**{rule.severity}** · {cell(rule.says)}", ""]
            lines += [f"* **{name}:** {cell(text)}" for name, text in rows.items() if text]
            lines.append("")
    return "\n".join(lines)


def report_page() -> str:
    """Return every key of the report of an audit, and of what `why --json` prints."""
    lines = ["# Report keys"]
    for name, title in (("report", "Audits"), ("why", "One message")):
        schema = _schema(name)
        lines += ["", f"## {title}", "", _prose(schema), "", f"Schema: `cdc-contracts show {name} --schema json`.", ""]
        lines += _key_table(schema)
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Return every key of the settings."""
    schema = _schema("settings")
    head = [
        "# Settings",
        "",
        "`cdc-contracts.yaml` in the working directory holds defaults for command-line options.",
        "",
    ]
    return "\n".join([*head, _prose(schema), "", *_key_table(schema), ""])


def files_page() -> str:
    """Return every key of the other files that a person writes."""
    lines = ["# Files you write", "", "`cdc-contracts show NAME --schema json` prints the schema of each for editors."]
    for name, title in _FILES.items():
        document = _schema(name)
        lines += ["", f"## {title} {{#{name}}}", "", f"Schema: `{name}`. {_prose(document)}", "", *_key_table(document)]
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    """Return every metric of streams and of the registry server."""
    server = ServerMetrics()
    server.count_contents(lambda: {"schemas": 0, "subjects": 0, "versions": 0})
    lines = ["# Metrics", "", "All metrics are in Prometheus's text format; none contains row values.", ""]
    lines += [
        "## Streams",
        "",
        "`--follow` and `--once` publish these with `--metrics-file` and `--metrics-port`. Metrics",
    ]
    lines += ["by partition have the labels `topic` and `partition`; `records_total` also has `outcome`, and"]
    lines += [
        "`drift_records` has `class` and `severity`, and `table_drift_records` also `table` and `contract`: the 500"
    ]
    lines += ["most frequent combinations, all others as table `(others)`. `version_records_total` has `contract`:"]
    lines += [
        "the only version that records fit, or `(undecided)` where they fit several.",
        "`deliveries_total` has `target` and `outcome`.",
        "",
        *_metric_table(StreamMetrics().text()),
        "",
    ]
    lines += ["## Registry server", "", "At `/metrics` of `registry serve`.", ""]
    lines += [*_metric_table(server.expose(None)[0].decode()), ""]
    return "\n".join(lines)


def python_page() -> str:
    """Return the public functions and classes, as their docstrings have them."""
    lines = ["# Python", "", "What `import cdc_contracts as cdc` and the pytest plugin have. [Use it from"]
    lines += ["Python](../how-to/python-api.md) and [Test a consumer](../how-to/test-a-consumer.md) show how.", ""]
    lines += ["## cdc_contracts", "", *describe_exports(cdc_contracts, "cdc")]
    lines += ["### Types", "", *describe_types(messages, message_batches, contracts, results)]
    lines += ["## cdc_contracts.testing", "", inspect.getdoc(testing) or "", ""]
    lines += describe_exports(testing, "testing")
    lines += describe_function(strategies.messages, "testing.strategies.messages")
    lines += [f"## {table_readers.__name__}", "", inspect.getdoc(table_readers) or "", ""]
    for name, one in sorted(vars(table_readers).items()):
        if getattr(one, "__module__", "") == table_readers.__name__ and not name.startswith("_"):
            lines += describe_function(one, name)
    return "\n".join(lines)


def _metric_table(text: str) -> Iterator[str]:
    """Yield a table of the metrics of a text in Prometheus's format."""
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    yield from ("| metric | kind | meaning |", "| --- | --- | --- |")
    for name, words in re.findall(r"^# HELP (\S+) (.+)$", text, re.MULTILINE):
        yield f"| `{name}` | {kinds[name]} | {cell(words)} |"


def _schema(name: str) -> dict[str, Any]:
    """Return a published schema, as `cdc-contracts show NAME --schema json` prints it."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = main(["show", name, "--schema", "json"])
    if code != 0:
        raise ValueError(f"there is no schema of `{name}`")
    found: dict[str, Any] = json.loads(printed.getvalue())
    return found


def _prose(schema: Mapping[str, Any]) -> str:
    return " ".join(schema.get("description", "").split())


def _key_table(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from ("| key | holds | required | meaning |", "| --- | --- | --- | --- |")
    for key, holds, required, meaning in _keys(schema, schema, "", ()):
        places = key.replace(".", ".<wbr>").replace("_", "_<wbr>")
        yield f"| <code>{places}</code> | {cell(holds)} | {'yes' if required else ''} | {cell(meaning)} |"


def _keys(
    schema: Mapping[str, Any], root: Mapping[str, Any], path: str, above: tuple[str, ...]
) -> Iterator[tuple[str, str, bool, str]]:
    """Yield the keys of a schema, those of nested documents below their own, a definition once on each way down."""
    for name, plain in _members_of(schema):
        reference, one = _resolve(plain, root)
        key = f"{path}.{name}" if path else name
        yield (
            key,
            _kinds(one, root),
            name in schema.get("required", ()),
            plain.get("description") or one.get("description", ""),
        )
        if reference in above:
            continue
        below = (*above, reference) if reference else above
        for alternative in _alternatives(one):
            inner_reference, inner = _resolve(alternative, root)
            if inner_reference in below:
                continue
            way = (*below, inner_reference) if inner_reference else below
            if "items" in inner and isinstance(inner["items"], dict):
                item_reference, item = _resolve(inner["items"], root)
                if item_reference not in way:
                    yield from _keys(item, root, f"{key}[]", (*way, item_reference) if item_reference else way)
            yield from _keys(inner, root, key, way)


def _members_of(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the members of an object; those whose names are free are `NAME`."""
    yield from schema.get("properties", {}).items()
    free = schema.get("additionalProperties")
    if isinstance(free, dict) and free:
        yield "NAME", free


def _alternatives(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*schema.get("anyOf", schema.get("oneOf", [])), schema]


def _resolve(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return where a schema refers to, if anywhere, and the schema that is meant."""
    reference = schema.get("$ref", "")
    if not reference.startswith("#/"):
        return "", schema
    found: Any = root
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return reference, found


def _kinds(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Return in words what kinds of values a schema allows."""
    if "const" in schema:
        return repr(schema["const"])
    if "enum" in schema:
        return ", ".join(str(one) for one in schema["enum"])
    found = schema.get("type", [])
    kinds = [found] if isinstance(found, str) else list(found)
    for one in schema.get("anyOf", schema.get("oneOf", [])):
        kinds += _kinds(_resolve(one, root)[1], root).split(" or ")
    return " or ".join(dict.fromkeys(kind for kind in kinds if kind))
