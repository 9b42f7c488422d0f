"""A contract may read the name of a table inside a column of a message that is its row."""

import json

from record_batches import batch_of_values
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation

PLACE, OTHER = "database: {at: /__db}", "database: {at: /source/db}"


def test_a_name_inside_a_column_is_read(tmp_path):
    shipped, own = CATALOGUE.version("debezium/flat@1").folder, tmp_path / "acme" / "flat" / "v1"
    own.mkdir(parents=True)
    text = (shipped / "contract.yaml").read_text(encoding="utf-8")
    assert PLACE in text
    text = text.replace(PLACE, OTHER).replace("debezium/flat@1", "acme/flat@1")
    (own / "contract.yaml").write_text(text, encoding="utf-8")
    for name in ("envelope.schema.json", "envelope.avsc"):
        (own / name).write_bytes((shipped / name).read_bytes())
    value = json.dumps({"id": 1, "source": {"db": "shop"}, "__op": "c", "__table": "orders", "__deleted": "false"})
    validation = open_validation(Catalogue([*CATALOGUE.roots, tmp_path]), "acme/flat@1", ReadingOptions())
    (written,) = Kernel(validation).decode(batch_of_values([value.encode()] * 20))
    assert {(row["database"], row["table"]) for row in written.changes.to_pylist()} == {("shop", "orders")}
