"""Key chains: under the right reading, what one update of a row left is what the next one finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.changes import Change, Image
from cdc_contracts.registry.detection.testimony import Testimony

_Key = tuple[int, str | None, str | None, str | None, tuple[str | None, ...]]


class KeyChains:
    """The rows of a topic as each version of a subject would have left them.

    Of two changes of one row that follow each other, the after image of the first is the before image of the second.
    Versions that place the images differently cannot both be right about that.
    """

    def __init__(self, versions: Sequence[Version]) -> None:
        self._versions = tuple(versions)
        self._left: dict[Version, dict[_Key, Image]] = {version: {} for version in versions}

    def follow(self, testimony: Testimony) -> Iterator[tuple[Version, Version]]:
        """Yield for each row that a message changes which version keeps its chain whole, and which one breaks it."""
        told = {version: testimony.fits[version].changes for version in self._versions if version in testimony.fits}
        for changes in zip(*told.values(), strict=False):
            readings = dict(zip(told, changes, strict=True))
            yield from self._link(testimony, readings)

    def _link(self, testimony: Testimony, readings: Mapping[Version, Change]) -> Iterator[tuple[Version, Version]]:
        whole: dict[Version, bool] = {}
        for version, change in readings.items():
            key = _key(testimony, change, change.before)
            left = self._left[version].pop(key, None) if key is not None else None
            if left is not None:
                whole[version] = left == change.before
        if len(whole) == len(self._versions):
            for kept in (version for version, holds in whole.items() if holds):
                yield from ((kept, broken) for broken, holds in whole.items() if not holds)
        for version in self._versions:
            after = readings[version].after if version in readings else None
            if version in readings and after is not None:
                key = _key(testimony, readings[version], after)
                if key is not None:
                    self._left[version][key] = after
            elif version not in readings:
                self._forget(testimony, version, readings)

    def _forget(self, testimony: Testimony, version: Version, readings: Mapping[Version, Change]) -> None:
        """Drop what a version knows of rows that a message changed in a way it cannot read."""
        for change in readings.values():
            for image in (change.before, change.after):
                key = _key(testimony, change, image)
                if key is not None:
                    self._left[version].pop(key, None)


def _key(testimony: Testimony, change: Change, image: Image | None) -> _Key | None:
    """Return what names a row in its partition; None where it has no key."""
    if image is None or not change.primary_key or any(image.get(name) is None for name in change.primary_key):
        return None
    values = tuple(image[name] for name in change.primary_key)
    return testimony.place.partition, change.database, change.schema, change.table, values
