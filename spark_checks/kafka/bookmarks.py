"""Bookmarks: where the last run ended, as a JSON file from topic to partition to the next offset.

    {"orders": {"0": 120, "1": 77, "id": "Zk3..."}}

`id` is the broker's id of the topic, if it provides one: a topic that was deleted and recreated has another one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cdc_contracts.registry.core.common.atomic_files import write_whole
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.report.report_model import Ledger

Offsets = Mapping[str, Mapping[int, int]]
_ID: Final = "id"


@dataclass
class Bookmarks:
    """The bookmarks file, before and after a run: `offsets` are those at which the previous run ended.

    `known` are the ids of topics in the file, `found` those that the broker gave this run.
    """

    path: Path
    offsets: Offsets
    known: Mapping[str, str]
    found: dict[str, str] = field(default_factory=dict)

    def recognise(self, ids: Mapping[str, str], *, anew: bool) -> None:
        """Record the ids of the topics that are read; unless they begin `anew`, the offsets in the file apply to them.

        Raises UnavailableError if the file is about other topics with the same names.
        """
        others = sorted(topic for topic, one in ids.items() if self.known.get(topic, one) != one)
        if others and not anew:
            raise UnavailableError(
                f"{', '.join(others)} is not the topic that the last run read: it was deleted and recreated since, "
                "or belongs to another cluster",
                where=str(self.path),
                hint="Give --from earliest to read it from its beginning, and later runs continue from there.",
            )
        self.found.update(ids)

    def write(self, ledger: Ledger) -> None:
        """Record where the partitions of a ledger end, atomically; others keep their entries.

        Raises UnavailableError if it cannot be written.
        """
        before = read_bookmarks(self.path)  # runs of other topics may have written it meanwhile
        ids = {**before.known, **self.found}
        same = {
            topic: offsets
            for topic, offsets in before.offsets.items()
            if before.known.get(topic, ids.get(topic)) == ids.get(topic)
        }
        offsets = {topic: dict(ends) for topic, ends in same.items()}
        for one in ledger.partitions:
            offsets.setdefault(one.topic, {})[one.partition] = one.end
        document = {
            topic: {str(partition): end for partition, end in sorted(ends.items())}
            | ({_ID: ids[topic]} if topic in ids else {})
            for topic, ends in sorted(offsets.items())
        }
        write_whole(self.path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def read_bookmarks(path: Path) -> Bookmarks:
    """Return the bookmarks in the file; none if there was no run yet.

    Raises UnavailableError if the file cannot be read, UsageError if it is not a bookmarks file.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        ids = {str(topic): _id(partitions.pop(_ID)) for topic, partitions in result.items() if _ID in partitions}
        offsets = {
            str(topic): {int(partition): _offset(offset) for partition, offset in partitions.items()}
            for topic, partitions in result.items()
        }
    except FileNotFoundError:
        if path.parent.is_dir():
            return Bookmarks(path, {}, {})
        raise UnavailableError("there is no such folder", where=str(path.parent)) from None
    except OSError as error:
        raise UnavailableError(f"cannot be read: {error}", where=str(path)) from error
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        hint = 'It holds {"TOPIC": {"0": 120}} with the next offset of each partition.'
        raise UsageError("not a file of offsets", where=str(path), hint=hint) from error
    return Bookmarks(path, offsets, ids)


def _offset(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value


def _id(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
