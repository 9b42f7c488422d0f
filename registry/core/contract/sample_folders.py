"""Sample folders: where the samples of a version are, as files or packed into one file.

Wheels have them packed: 4,000 small files would take a block of the disk each, ten times as much.
"""

from __future__ import annotations

import io
import zipfile
from importlib.resources.abc import Traversable
from typing import Final

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.contract.catalogue import Version

SAMPLES: Final = "samples"
PACKED_SAMPLES: Final = "samples.zip"


def open_samples(version: Version) -> Traversable:
    """Return the version's own folder of samples, which need not exist; a packed one only where there is no folder.

    Raises ContractError if the packed samples cannot be read.
    """
    folder, packed = version.folder.joinpath(SAMPLES), version.folder.joinpath(PACKED_SAMPLES)
    if folder.is_dir() or not packed.is_file():
        return folder
    try:
        archive = zipfile.ZipFile(io.BytesIO(packed.read_bytes()))
    except zipfile.BadZipFile as error:
        raise ContractError(f"not readable as a zip: {error}", where=str(packed)) from error
    archive.filename = str(packed)  # messages name the places of samples
    return zipfile.Path(archive)
