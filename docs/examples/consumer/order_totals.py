"""A consumer of DTS Canal messages: the total of every order."""

import json
from decimal import Decimal


class OrderTotals:
    """Totals by id. `swapped`: the DTS instance is from before 2022-03-20, and its images are the other way round."""

    def __init__(self, *, swapped: bool = False) -> None:
        self.swapped = swapped
        self.by_id: dict[int, Decimal | None] = {}

    def apply(self, value: bytes) -> None:
        """Apply one message. Raises ValueError if its type is not known."""
        message = json.loads(value)
        kind = message["type"]
        now, then = message["data"], message.get("old")
        if self.swapped and kind in ("UPDATE", "DELETE"):
            now, then = then, now
        match kind:
            case "INSERT" | "INIT":
                for row in now:
                    self._put(row)
            case "UPDATE":
                for new, old in zip(now, then, strict=True):
                    del self.by_id[int((new | old)["id"])]
                    self._put(old | new)
            case "DELETE":
                for row in now:
                    del self.by_id[int(row["id"])]
            case "DDL":
                pass
            case _:
                raise ValueError(f"unknown type {kind}")

    def _put(self, row: dict[str, str | None]) -> None:
        total = row["total"]
        self.by_id[int(row["id"])] = None if total is None else Decimal(total)
