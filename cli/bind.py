"""`cdc-contracts bind`: which contract a topic follows, kept in `cdc-contracts.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.shared_options import AsJson, open_catalogue
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.contract.settings import Settings


def bind(
    topic: Annotated[str | None, typer.Argument(metavar="TOPIC", help="A topic.", show_default=False)] = None,
    reference: Annotated[
        str | None, typer.Argument(metavar="REF", help="SYSTEM/DIALECT@N; without @N any version.", show_default=False)
    ] = None,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the binding.")] = False,
    everything: Annotated[bool, typer.Option("--list", help="List the bindings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bind a topic to a contract in cdc-contracts.yaml; comments and order are preserved.

    Audits then validate the topic against it; `registry apply` and `push` register the schema of a single version
    as TOPIC-value.
    """
    from cdc_contracts.registry.core.contract.settings import read_settings
    from cdc_contracts.registry.core.contract.topic_bindings import bind_topic

    settings = read_settings(Path.cwd())
    if everything or topic is None:
        if not everything or topic is not None or reference is not None or remove:
            raise UsageError("give TOPIC and REF, TOPIC with --remove, or --list")
        _print_bindings(dict(settings.topics), as_json=as_json)
        return
    if remove == (reference is not None):
        raise UsageError(
            "a topic needs either a contract to bind or --remove", hint="Write `bind TOPIC SYSTEM/DIALECT@N`."
        )
    versions = _versions(reference, settings) if reference is not None else []
    bound = bind_topic(Path.cwd(), topic, reference)
    if as_json:
        console.print_json({"topic": bound.topic, "before": bound.before, "after": bound.after})
    elif bound.before == bound.after:
        console.print_line(f"{topic} is already bound to {bound.after or 'nothing'}")
    else:
        was = f" (was {bound.before})" if bound.before and bound.after else ""
        console.print_line(f"{topic} is now bound to {bound.after or 'nothing'}{was}")
    if len(versions) > 1:
        console.say("  its messages may follow any version of the subject")
        console.say(f"  to register a schema, bind a single version, such as {versions[-1]}")


def _versions(reference: str, settings: Settings) -> list[Version]:
    """Return the versions that a topic is bound to. Raises UsageError if messages cannot be validated against them."""
    catalogue = open_catalogue([Path(one) for one in settings.contracts])
    versions = catalogue.resolve(reference)
    if versions[0].subject == catalogue.canonical.subject:
        raise UsageError(
            f"messages cannot be validated against {versions[0].subject}: they are decoded into it",
            hint="`cdc-contracts list` shows the others.",
        )
    return versions


def _print_bindings(topics: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        console.print_json(topics)
        return
    console.print_table(["TOPIC", "CONTRACT"], sorted(topics.items()))
    if not topics:
        console.say("no topic is bound")
