"""DDL as databases print it: table contracts of CREATE TABLE, and what later statements add or take away."""

from cdc_contracts.registry.ddl.drafts import Problem
from cdc_contracts.registry.ddl.grammars import GRAMMARS, Grammar
from cdc_contracts.registry.ddl.messages import Additions, read_added_columns
from cdc_contracts.registry.ddl.statements import Definitions, read_create_table
from cdc_contracts.registry.ddl.upheavals import Upheaval, read_upheavals

__all__ = [
    "GRAMMARS",
    "Additions",
    "Definitions",
    "Grammar",
    "Problem",
    "Upheaval",
    "read_added_columns",
    "read_create_table",
    "read_upheavals",
]
