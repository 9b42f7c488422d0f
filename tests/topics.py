"""Topics for tests: events rendered by contracts, as records for a topic or lines for a file."""

from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from cdc_contracts.registry.core.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.validate.validation_context import open_validation


def leave_out_later_versions(catalogue, root, *, scan=Catalogue._scan):
    """Read a root of contracts but for what came after the two versions of `dts/canal` that scenarios are about.

    What is expected of a scenario is written by hand for these two; every version is covered by the generic tests.
    """
    scan(catalogue, root)
    versions = catalogue._versions.get("dts/canal", {})
    for number in [number for number in versions if number > 2]:
        del versions[number]


class ScenarioCatalogue(Catalogue):
    """The shipped contracts as scenarios know them."""

    _scan = leave_out_later_versions


CATALOGUE = shipped_catalogue()
SCENARIOS = ScenarioCatalogue(CATALOGUE.roots)
PLAIN = ReadingOptions()
VERSION_FOLDERS = [
    folder for folder in (Path(__file__).parents[1] / "contracts").glob("*/*/v*") if folder.parts[-3] != "canonical"
]
"""The folders of versions, found without the catalogue."""
_NUMBERS = [int(folder.name[1:]) for folder in VERSION_FOLDERS if folder.parts[-3:-1] == ("dts", "canal")]
NEWEST_CANAL = f"dts/canal@{max(_NUMBERS)}"
"""What `dts/canal@latest` stands for."""

WITH_TABLES = ReadingOptions(
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


def rendered(reference, count, *, seed=1, reading_options=None, **options):
    """The messages of a stream in a contract."""
    return list(renderer_of(reference, reading_options or PLAIN).render_all(row_stream(seed, count, **options)))


def renderer_of(reference, reading_options=PLAIN):
    """The renderer of a version on some terms: one for all tests of a process, which fills it with their tables."""
    return _renderer(reference, Same(reading_options))


class Same:
    """A key of what cannot be hashed: the same object, which is kept alive by it."""

    def __init__(self, one):
        self.one = one

    def __eq__(self, other):
        return self.one is other.one

    def __hash__(self):
        return id(self.one)


@lru_cache(128)
def _renderer(reference, same):
    return Renderer(CATALOGUE.version(reference), same.one)


@cache
def named_samples(version) -> list[tuple[str, bytes]]:
    """Return the samples and drift samples of a version by name."""
    folder = Path(str(version.folder)) / "samples"
    files = [file for part in (folder, folder / "drift") for file in sorted(part.iterdir())]
    return [
        (file.stem, file.read_bytes())
        for file in files
        if file.suffix in (".json", ".bin", ".avro") and not file.name.endswith((".change.json", ".findings.json"))
    ]


def samples(version) -> list[bytes]:
    """Return the samples and drift samples of a version."""
    return [value for _, value in named_samples(version)]


def scope_of(reference, **reading_options):
    """The context in which records are validated; without options the same for all tests of a process."""
    return (
        open_validation(CATALOGUE, reference, ReadingOptions(**reading_options))
        if reading_options
        else _scope(reference)
    )


@cache
def _scope(reference):
    return replace(open_validation(CATALOGUE, reference, PLAIN), made=_VALIDATORS)


_VALIDATORS = {}


def expressed_op(version, op: str) -> str:
    """The op that is read back: rows of a full load may be written as inserts, and inserts and updates as one."""
    if version.meaning.full_load == "as-upsert" and op in ("insert", "update", "snapshot"):
        return "upsert"
    return "insert" if op == "snapshot" and version.meaning.full_load == "as-insert" else op


def cut(text: str | None, digits: int | None, *, instants: bool) -> str | None:
    """Return a canonical time with so many digits of a second, and its zone only where instants are kept."""
    if text is None or digits is None:
        return text
    zone = "Z" if text.endswith("Z") else ""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    shown = fraction[:digits].rstrip("0")
    return whole + ("." + shown if shown else "") + (zone if instants else "")


def as_decoded(text, source_type, can):
    """Canonical text as a dialect may hold it: cut where it keeps less, in another kind where it has no own."""
    kind, family = can.types.kind_of(source_type), source_type.partition("(")[0].split()[0]
    if text is None or kind == "text":
        return text
    if (
        family == "decimal"
        and "," in source_type
        and can.types.type_name_of(source_type) not in (source_type, None)
        and ("," in can.types.type_name_of(source_type))
    ):
        scale = int(source_type.rstrip(")").rpartition(",")[2])  # the message has the digits alone
        return f"{text.partition('.')[0]}.{text.partition('.')[2]:0<{scale}}"
    if family in ("date", "datetime") and kind == "timestamp":  # one type for all moments, counted in milliseconds
        text += "T00:00:00Z" if family == "date" else "Z"
    return cut(text, can.types.fraction_digits(source_type), instants=True)
