"""Topics for tests: events rendered by contracts, as records for a topic or lines for a file."""

from cdc_contracts.registry.catalogue import shipped_catalogue
from cdc_contracts.registry.rendering import Renderer
from cdc_contracts.registry.scope import open_scope
from cdc_contracts.registry.streams import row_stream
from cdc_contracts.registry.terms import Terms

CATALOGUE = shipped_catalogue()


def rendered(reference, count, *, seed=1, **options):
    """The messages of a stream in a contract."""
    return list(Renderer(CATALOGUE.version(reference), Terms()).render_all(row_stream(seed, count, **options)))


def scope_of(reference, **terms):
    return open_scope(CATALOGUE, reference, Terms(**terms))
