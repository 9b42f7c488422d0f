"""Database upgrades: how tables of an older form become those of the next."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import Connection, select, update

from cdc_contracts.registry.server.store.database_tables import SCHEMAS
from cdc_contracts.registry.server.store.registry_records import StoredReference
from cdc_contracts.registry.server.store.schema_content import make_content


def _name_schemas_as_others_do(connection: Connection) -> None:
    """Avro is written as Java writes it, and guids are those that any registry gives."""
    for row in connection.execute(select(SCHEMAS).where(~SCHEMAS.c.erased)).all():
        extras = json.loads(row.extras)
        references = tuple(StoredReference(*parts) for parts in extras.get("references", ()))
        content = make_content(
            row.type, row.text, references, extras.get("metadata"), extras.get("ruleSet"),
            context=row.context, normalize=False,
        )  # fmt: skip
        same = (SCHEMAS.c.context == row.context, SCHEMAS.c.id == row.id)
        named = {"text": content.text, "identity": content.identity, "guid": content.guid}
        connection.execute(update(SCHEMAS).where(*same).values(**named))


STEPS: Final[Mapping[int, Callable[[Connection], None]]] = {1: _name_schemas_as_others_do}
"""By the older form."""
