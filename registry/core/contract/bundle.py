"""Bundle: a catalogue as one value that can be pickled, so that workers use the same documents as the driver."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from cdc_contracts.registry.core.common.memory_folders import folder_of
from cdc_contracts.registry.core.contract.catalogue import AVRO_MESSAGE_SCHEMA, MESSAGE_SCHEMA, Catalogue
from cdc_contracts.registry.core.contract.sample_folders import SAMPLES

_DOCUMENTS = (".yaml", ".json", ".avsc")
_WRITTEN = (MESSAGE_SCHEMA, AVRO_MESSAGE_SCHEMA)
"""Documents that are generated from the others, and are generated again where they are needed."""


@dataclass(frozen=True)
class Bundle:
    """The documents of a catalogue by path, without samples."""

    files: Mapping[str, str]

    def open(self) -> Catalogue:
        """Return the catalogue that was bundled."""
        return Catalogue([folder_of(self.files)])

    @property
    def digest(self) -> str:
        """SHA-256 over all documents."""
        digest = hashlib.sha256()
        for path in sorted(self.files):
            digest.update(f"{path}\n{self.files[path]}\n".encode())
        return digest.hexdigest()


def bundle(catalogue: Catalogue) -> Bundle:
    """Return the documents of a catalogue; of two folders with the same version the later one counts."""
    files: dict[str, str] = {}
    for root in catalogue.roots:
        files |= dict(_documents(root, ""))
    return Bundle(files)


def _documents(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        below = f"{path}/{entry.name}" if path else entry.name
        if entry.is_dir():
            if entry.name not in (SAMPLES, "__pycache__") and not entry.name.startswith("."):
                yield from _documents(entry, below)
        elif entry.name.endswith(_DOCUMENTS) and entry.name not in _WRITTEN:
            yield below, entry.read_text(encoding="utf-8")
