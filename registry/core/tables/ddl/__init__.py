"""DDL as databases print it: table contracts of CREATE TABLE, and what later statements add or take away."""

from cdc_contracts.registry.core.tables.ddl.contract_drafts import Problem
from cdc_contracts.registry.core.tables.ddl.create_table import Definitions, read_create_table
from cdc_contracts.registry.core.tables.ddl.ddl_messages import Additions, Reset, read_added_columns, read_resets
from cdc_contracts.registry.core.tables.ddl.grammars import GRAMMARS, Grammar

__all__ = [
    "GRAMMARS",
    "Additions",
    "Definitions",
    "Grammar",
    "Problem",
    "Reset",
    "read_added_columns",
    "read_create_table",
    "read_resets",
]
