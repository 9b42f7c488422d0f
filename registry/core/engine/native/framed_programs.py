"""Framed programs: the schemas of many ids as one program, by which the native reader reads a whole batch at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.native.avro_plans import AvroPlan, AvroProgram, NoAvroPlan
from cdc_contracts.registry.core.message.framed_values import FramedValues
from cdc_contracts.registry.core.writer_schemas.writer_schemas import SchemaId

LEFT: Final = -1
"""In place of a schema: Python reads such values."""
_MOST_NODES: Final = 2**17
"""Of all schemas of a program, 20 MiB with what they name."""


class FramedPrograms:
    """Makes programs; keeps the schemas that it was given until a program is too large."""

    def __init__(self, values: FramedValues, library: Any) -> None:
        self._values, self._library = values, library
        self._forget()

    def _forget(self) -> None:
        self._plan = AvroPlan()
        self._program: AvroProgram | None = None
        self._roots: dict[SchemaId, int] = {}

    def find(self, numbers: Iterable[SchemaId]) -> tuple[AvroProgram | None, dict[SchemaId, int]]:
        """Return a program, and which of its schemas each id names; ids that are not among them are read by Python.

        The program is None if there is no library. Raises UnavailableError if the registry does not answer.
        """
        wanted = list(numbers)
        if self._library is None:
            return None, {}
        if len(self._plan.nodes) > _MOST_NODES and not self._roots.keys() >= set(wanted):
            self._forget()
        for number in wanted:
            if number not in self._roots and len(self._plan.nodes) <= _MOST_NODES:
                self._add(number)
        if self._program is None:
            self._program = AvroProgram(self._library, self._plan, 0)
        return self._program, self._roots

    def _add(self, number: SchemaId) -> None:
        """Add the schema of an id, unless nothing is known about it: the registry may have it later."""
        try:
            schema = self._values.avro_schema(number)
        except Unreadable:
            return
        try:
            self._roots[number] = self._plan.add_writer_schema(schema, self._values.members_of(number))
            self._program = None
        except (NoAvroPlan, ContractError):
            self._roots[number] = LEFT
