"""Where the last run ended: a JSON file from topic to partition to the next offset, whatever broker they are on."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cdc_contracts.registry.errors import UnavailableError, UsageError

Offsets = Mapping[str, Mapping[int, int]]


def read_bookmarks(path: Path) -> dict[str, dict[int, int]]:
    """Return the next offset of each partition; nothing where there was no run yet.

    Raises UnavailableError where the file cannot be read, UsageError where it holds something else.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(topic): {int(partition): _offset(offset) for partition, offset in partitions.items()}
            for topic, partitions in told.items()
        }
    except FileNotFoundError:
        if path.parent.is_dir():
            return {}
        raise UnavailableError("there is no such folder", where=str(path.parent)) from None
    except OSError as error:
        raise UnavailableError(f"cannot be read: {error}", where=str(path)) from error
    except (ValueError, AttributeError, RecursionError) as error:
        mend = 'It holds {"TOPIC": {"0": 120}} with the next offset of each partition.'
        raise UsageError("not a file of offsets", where=str(path), mend=mend) from error


def write_bookmarks(path: Path, ledger: Mapping[str, Any]) -> None:
    """Note where the partitions of a ledger end; what the file says of others stays. It is there whole, or as before.

    Raises UnavailableError where it cannot be written.
    """
    offsets = read_bookmarks(path)
    for one in ledger["partitions"]:
        offsets.setdefault(one["topic"], {})[one["partition"]] = one["end"]
    ordered = {
        topic: {str(partition): offset for partition, offset in sorted(partitions.items())}
        for topic, partitions in sorted(offsets.items())
    }
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n")
            Path(aside).replace(path)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UnavailableError(f"the offsets cannot be written: {error}", where=str(path)) from error


def _offset(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value
