"""Schema registries: real servers that converters register schemas at, and their contents as committed files."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from producers.run_plans import OptionSet
from registry_servers import served

from cdc_contracts.registry.authoring.sync.registry_client import Access, RegistryClient
from cdc_contracts.registry.authoring.sync.retrieval import dump_server


@contextmanager
def open_registries(options: Iterable[OptionSet], folder: Path) -> Iterator[dict[str, str]]:
    """Serve a registry for each option set that writes framed records, around the block; yield their addresses.

    `folder` gets their files.
    """
    with ExitStack() as servers:
        framed = [one.name for one in options if one.is_framed]
        yield {name: servers.enter_context(serve_registry(folder / f"registry-{name}")) for name in framed}


@contextmanager
def serve_registry(folder: Path) -> Iterator[str]:
    """Serve a registry from a new folder around the block, and yield its address.

    It refuses no change of a schema, as tables of these databases are changed in all ways.
    """
    folder.mkdir()
    with served(folder, "--no-catalogue", "--level", "none", "--log", "none") as (address, _, _):
        yield address


def pack_schemas(address: str, folder: Path) -> bytes:
    """Return what a server holds as `registry dump` writes it, packed; the same contents make the same bytes.

    `folder` gets the files; it is a new one.
    """
    with RegistryClient(Access(address)) as client:
        dump_server(client, folder, force=False)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            member = tarfile.TarInfo(file.relative_to(folder).as_posix())
            member.size = file.stat().st_size
            archive.addfile(member, io.BytesIO(file.read_bytes()))
    return lzma.compress(packed.getvalue(), preset=6 | lzma.PRESET_EXTREME)


def unpack_schemas(packed: bytes, folder: Path) -> Path:
    """Write packed schemas into a folder, as `registry dump` wrote them, and return the folder."""
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
