"""Relations between the texts of several members of one message.

Rules, discriminators and the fast path ask the same functions, so that they cannot answer differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.values import Number


@dataclass(frozen=True)
class Relation:
    """What must hold between the members at some places; None if one of them is not there to be compared.

    `then` is there where the first has to start with the second and that.
    """

    name: str
    places: tuple[str, ...]
    holds: Callable[..., bool | None]
    then: str | None = None


def starts_with(whole: Any, head: Any, then: str = "") -> bool | None:
    """Return whether a text starts with another and what follows it."""
    if not (isinstance(whole, str) and isinstance(head, str)):
        return None
    return whole.startswith(head + then)


def is_place_of_size(index: Any, place: Any, size: Any) -> bool | None:
    """Return whether a text is `place/size`, as in 3/11: the third of eleven."""
    first, last = digits_of(place), digits_of(size)
    if not isinstance(index, str) or first is None or last is None:
        return None
    return index == f"{first}/{last}"


def digits_of(value: Any) -> str | None:
    """Return the text of a number or a text, None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, Number):
        return "0" if value.token == "-0" else value.token  # noqa: S105  a JSON token
    return str(value) if is_number(value) else None


def is_number(value: Any) -> bool:
    """Return whether a value is a number, as a contract or a parser has them; true and false are none."""
    return isinstance(value, int | Number) and not isinstance(value, bool)


def relation_of_index(meaning: Meaning) -> Relation | None:
    """Return the relation of the index within a transaction to sequence number and size."""
    transaction = meaning.envelope.transaction
    if transaction is None or transaction.index is None or transaction.size is None:
        return None
    beside = transaction.index.rpartition("/")[0]
    return Relation("idx-is-seq-of-size", (f"{beside}/idx", transaction.index, transaction.size), is_place_of_size)


def relation_of_row(meaning: Meaning) -> Relation | None:
    """Return the relation of a row id to its table."""
    row, table = meaning.envelope.primary_key_values, meaning.envelope.database_table or meaning.envelope.table
    if row is None or row.at is None or table is None or table.at is None:
        return None
    return Relation(
        "rowid-starts-with-table", (row.at, table.at), lambda whole, head: starts_with(whole, head, "-"), "-"
    )


def relations_of(meaning: Meaning) -> Iterator[Relation]:
    """Yield the relations that the op and the discriminators of a contract depend on."""
    for flag in meaning.envelope.op.flags:
        if flag.at is not None and is_number(flag.equals):
            yield _relation_of_flag(flag.at, flag.equals)
    for test in meaning.discriminators:
        for one in (test, *(test.any or ())):
            found = _relation_of_prefix(one)
            if found is not None:
                yield found


def _relation_of_flag(at: str, number: Any) -> Relation:
    """A number that overrides the op, such as a time that is none; any other number leaves the op as it is."""
    return Relation(f"not {number}", (at,), lambda value: value != number if is_number(value) else None)


def _relation_of_prefix(test: Test) -> Relation | None:
    whole = test.prefix_of or test.not_prefix_of
    if whole is None or test.at is None:
        return None
    then = test.then or ""
    return Relation(f"prefix{then}", (whole, test.at), lambda text, head: starts_with(text, head, then), then)
