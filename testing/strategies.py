"""Hypothesis strategies for messages of contracts; they need `pip install hypothesis`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.type_families import family_of
from cdc_contracts.registry.core.generate.edge_rows import edge_texts
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.testing.sent_messages import MessageSender

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from cdc_contracts.api.arguments import Tables
    from cdc_contracts.api.contracts import Folders
    from cdc_contracts.registry.core.message.canonical_changes import Image

_OPS = ("insert", "update", "delete", "snapshot", "upsert")
_FIRST_TIME = 1_600_000_000_000
_LAST_TIME = 1_900_000_000_000


def messages(
    reference: str,
    *,
    table: Tables | None = None,
    parameters: Mapping[str, str] | None = None,
    contracts: Folders | None = None,
) -> SearchStrategy[bytes]:
    """Return a strategy of single conforming messages of a version: any op, NULL and values at the edges of each type.

    `table` is the table contract of the rows, a file or its content. They shrink to an insert of empty and zero values.
    Raises UsageError if there is no such contract, UnavailableError without Hypothesis.
    """
    try:
        from hypothesis import strategies as st
    except ModuleNotFoundError as error:
        raise UnavailableError(
            "this needs hypothesis, which is not installed", hint="Run `pip install hypothesis`."
        ) from error

    sender = MessageSender(reference, table=table, parameters=parameters, contracts=contracts)
    source, options = sender.source, sender.options[1]
    renderer = Renderer(sender.version, options)
    ops = [op for op in _OPS if op in capabilities_of(sender.version, options).ops]
    contract = options.tables.of(source.database, source.schema, source.name)
    columns = {}
    for name, type_ in source.types.items():
        texts: SearchStrategy[str] = st.sampled_from(edge_texts(type_))
        if family_of(type_) == "text":
            texts |= st.text(st.characters(codec="utf-8", exclude_characters="\0"))
        nullable = name not in source.primary_key and (contract is None or contract.may_be_null(name))
        columns[name] = texts | st.none() if nullable else texts
    rows: SearchStrategy[Image] = st.fixed_dictionaries(columns)

    def render(op: str, before: Image, after: Image, position: int, millis: int) -> bytes:
        event = Event(
            op=op,
            table=source,
            before=before if op in ("update", "delete") else None,
            after=None if op == "delete" else after,
            event_time=millis // 1000 * 1_000_000,
            process_time=millis * 1000,
            position=str(position),
            transaction=f"{{tid:{position}, part:0}},311,0,0",
        )
        return renderer.render(event)

    moments = st.integers(_FIRST_TIME, _LAST_TIME)
    return st.builds(render, st.sampled_from(ops), rows, rows, st.integers(1, 2**31), moments).filter(
        lambda message: sender.receiver.check(message).ok
    )
