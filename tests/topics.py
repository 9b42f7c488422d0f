"""Topics for tests: events rendered by contracts, as records for a topic or lines for a file."""

from cdc_contracts.registry.catalogue import shipped_catalogue
from cdc_contracts.registry.rendering import Renderer
from cdc_contracts.registry.scope import open_scope
from cdc_contracts.registry.streams import ORDERS, row_stream
from cdc_contracts.registry.tables import TableContracts, parse_table_contract
from cdc_contracts.registry.terms import Terms

CATALOGUE = shipped_catalogue()

WITH_TABLES = Terms(
    tables=TableContracts([
        parse_table_contract(
            {
                "table": "shop.orders",
                "columns": {name: {"type": source_type} for name, source_type in ORDERS.types.items()},
                "primary_key": ["id"],
            },
            "orders.yaml",
        )
    ])
)  # fmt: skip
"""The table of the streams, described as a user would for a dialect that does not send types."""


def rendered(reference, count, *, seed=1, terms=None, **options):
    """The messages of a stream in a contract."""
    return list(Renderer(CATALOGUE.version(reference), terms or Terms()).render_all(row_stream(seed, count, **options)))


def scope_of(reference, **terms):
    return open_scope(CATALOGUE, reference, Terms(**terms))
