"""Sent messages: what a producer of a contract version would send, generated from the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from cdc_contracts.api.arguments import Tables, as_number, as_text
from cdc_contracts.api.contracts import Contract, Folders, open_options
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.generate.edge_rows import edge_messages
from cdc_contracts.registry.core.generate.event_streams import ORDERS
from cdc_contracts.registry.core.generate.message_samples import sample_messages, sampled_table
from cdc_contracts.registry.core.generate.source_events import SourceTable
from cdc_contracts.registry.core.validate.validation_context import open_validation


def messages(
    reference: str,
    n: int = 50,
    *,
    table: Tables | None = None,
    seed: int = 1,
    drift: str | None = None,
    split_updates: bool = False,
    parameters: Mapping[str, str] | None = None,
    contracts: Folders | None = None,
) -> list[bytes]:
    """Return messages of a contract version: a full load, inserts, updates, deletes, changes of keys, DDL, heartbeats.

    * `table` is the table contract of the rows, a file or its content; otherwise `shop.orders` with twelve columns.
    * The same `seed` gives the same rows in every version, and the same bytes.
    * With `drift`, a class or rule such as `unknown-enum`, every tenth message drifts.
    * `split_updates` sends an update as two messages, if the dialect does.

    Raises UsageError if there is no such contract, an argument is wrong, or the version cannot express what is asked.
    """
    sender = MessageSender(reference, table=table, parameters=parameters, contracts=contracts)
    return sender.stream(n, seed=seed, drift=drift, split_updates=split_updates)


@dataclass(frozen=True)
class MessageSender:
    """Sends messages of one version; `table` is as for `messages`."""

    reference: str
    table: Tables | None = None
    parameters: Mapping[str, str] | None = None
    contracts: Folders | None = None

    @cached_property
    def version(self) -> Version:
        """The version that is sent; of a subject the latest. Raises UsageError if there is none."""
        return self.options[0].version(self.reference)

    @cached_property
    def receiver(self) -> Contract:
        """The contract that reads the messages."""
        catalogue, options = self.options
        return Contract(open_validation(catalogue, self.version.reference, options))

    @property
    def source(self) -> SourceTable:
        """The table whose rows are sent."""
        return sampled_table(self.version, self.options[1])

    def stream(self, n: int, *, seed: int, drift: str | None = None, split_updates: bool = False) -> list[bytes]:
        """Return messages of a stream of changes.

        Raises UsageError if the version cannot express what is asked, or an argument is wrong.
        """
        return list(
            sample_messages(
                self.version,
                as_number("n", n, least=1),
                seed=as_number("seed", seed),
                reading_options=self.options[1],
                drift=None if drift is None else as_text("drift", drift, "unknown-enum"),
                split_updates=split_updates,
            )
        )

    def edges(self) -> list[bytes]:
        """Return messages with the values on which consumers fail: NULL, empty, zero, the ends of each type."""
        return list(edge_messages(self.version, self.source, self.options[1]))

    @cached_property
    def options(self) -> tuple[Catalogue, ReadingOptions]:
        """The catalogue and reading options; a dialect without types or names of tables gets them from the table."""
        catalogue, options = open_options(self.table, None, self.parameters, None, self.contracts)
        version = catalogue.version(self.reference)
        if not options.tables and version.meaning.columns.types == "none":
            options = replace(options, tables=_orders())
        first = options.tables.first()
        names_none = "from" in version.resolved["envelope"].get("table", {})
        return catalogue, replace(options, table=first.table if first is not None and names_none else None)


def _orders() -> TableContracts:
    """Return the table contract of the rows that are sent where no other is given."""
    columns = {name: {"type": type_} for name, type_ in ORDERS.types.items()}
    document = {
        "table": f"{ORDERS.database}.{ORDERS.name}",
        "columns": columns,
        "primary_key": list(ORDERS.primary_key),
    }
    return TableContracts([parse_table_contract(document, "shop.orders")])
