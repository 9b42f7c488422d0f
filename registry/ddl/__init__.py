"""DDL as databases print it: table contracts of CREATE TABLE, and the columns that ALTER TABLE adds."""

from cdc_contracts.registry.ddl.drafts import Problem
from cdc_contracts.registry.ddl.grammars import GRAMMARS, Grammar
from cdc_contracts.registry.ddl.messages import Additions, read_added_columns
from cdc_contracts.registry.ddl.statements import Definitions, read_create_table

__all__ = [
    "GRAMMARS",
    "Additions",
    "Definitions",
    "Grammar",
    "Problem",
    "read_added_columns",
    "read_create_table",
]
