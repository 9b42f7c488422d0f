"""The build hook: packs the samples of each contract, and compiles the native part where a compiler is at hand.

A build never fails for want of a compiler.

`CDC_CONTRACTS_CC` names the compiler, with its options; `none` builds without, `zig` fetches the compiler that PyPI
has. `CDC_CONTRACTS_PLATFORM` names the platform of the wheel where that is not this machine.
`python hatch_build.py --to FILE` compiles alone; what follows goes to the compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # compiling alone needs no build backend
    BuildHookInterface = object

PACKAGE_FOLDER = "cdc_contracts/registry/core/engine/native"
FOLDER = Path(".src") / PACKAGE_FOLDER
CONTRACTS = Path(".src/cdc_contracts/contracts")
LIBRARY = "libcdc_native.so"
SOURCES = (
    "aborting.c",
    "scanner.c",
    "text_images.c",
    "placing.c",
    "fingerprints.c",
    "plans.c",
    "forms.c",
    "canonical.c",
    "columns.c",
    "row_digests.c",
    "typed_columns.c",
    "images.c",
    "lists.c",
    "interface.c",
    "avro_reader.c",
    "avro_values.c",
    "avro_texts.c",
)
OPTIONS = ("-std=c99", "-O3", "-shared", "-fPIC", "-fvisibility=hidden")
MSVC_OPTIONS = ("/nologo", "/std:c11", "/O2", "/LD")
LONGEST = 300
"""Seconds that a compiler may take."""


class PackageBuildHook(BuildHookInterface):
    """Adds to a wheel the compiled library and packed samples; or the library to a checkout installed to be edited."""

    def dependencies(self) -> list[str]:
        """What has to be fetched to build: a compiler, where it is asked for."""
        return ["ziglang"] if os.environ.get("CDC_CONTRACTS_CC") == "zig" else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Pack samples and compile before the wheel is packed."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory()
        if version != "editable":
            build_data["force_include"] |= pack_samples(root / CONTRACTS, Path(self._folder.name))
        compiled = Path(self._folder.name) / LIBRARY
        if not compile_native(root / FOLDER, compiled):
            return
        if version == "editable":
            fresh = root / FOLDER / f"{LIBRARY}.new"
            shutil.copyfile(compiled, fresh)
            fresh.replace(root / FOLDER / LIBRARY)  # a process may have the old one open
            return
        platform = os.environ.get("CDC_CONTRACTS_PLATFORM") or sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform.replace('-', '_').replace('.', '_')}"
        build_data["force_include"][str(compiled)] = f"{PACKAGE_FOLDER}/{LIBRARY}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled to be packed."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def pack_samples(contracts: Path, to: Path) -> dict[str, str]:
    """Write the folder `samples` of each contract as one file; return the place of each in the package, by its path."""
    packed = {}
    for number, folder in enumerate(sorted(contracts.glob("*/*/v*/samples"))):
        file = to / f"samples-{number}.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for sample in sorted(one for one in folder.rglob("*") if one.is_file()):
                entry = zipfile.ZipInfo(sample.relative_to(folder).as_posix())  # without the time, as wheels are
                archive.writestr(entry, sample.read_bytes(), zipfile.ZIP_DEFLATED)
        packed[str(file)] = f"cdc_contracts/contracts/{folder.relative_to(contracts).as_posix()}.zip"
    return packed


def compile_native(folder: Path, to: Path, *options: str) -> bool:
    """Compile the sources of a folder with the first compiler that can; False where none can."""
    digest = runpy.run_path(str(folder / "source_digest.py"))["digest_sources"](folder)
    for compiler in find_compilers():
        is_msvc = Path(compiler[0]).stem.lower() == "cl"
        command = [
            *compiler,
            *(MSVC_OPTIONS if is_msvc else OPTIONS),
            f'-DCDC_SOURCES="{digest}"',
            *options,
            *([f"/Fe:{to.absolute()}"] if is_msvc else ["-o", str(to.absolute())]),
            *(str((folder / name).absolute()) for name in SOURCES),
        ]
        try:
            with tempfile.TemporaryDirectory() as beside:
                place = beside if is_msvc else None  # it leaves object files where it is started
                subprocess.run(command, check=True, capture_output=True, timeout=LONGEST, cwd=place)
            if not os.environ.get("CDC_CONTRACTS_PLATFORM") and not options:
                ctypes.CDLL(str(to))
        except (OSError, subprocess.SubprocessError) as error:
            told = getattr(error, "stderr", None) or b""
            print(f"not compiled by {compiler[0]}: {error}\n{told.decode(errors='replace')}", file=sys.stderr)  # noqa: T201
        else:
            return True
    print("no native part is built: messages will be taken apart in Python", file=sys.stderr)  # noqa: T201
    return False


def find_compilers() -> list[list[str]]:
    """Return the compilers to try, each as the beginning of a command."""
    wanted = os.environ.get("CDC_CONTRACTS_CC", "")
    zig = [[sys.executable, "-m", "ziglang", "cc"]] if importlib.util.find_spec("ziglang") else []
    if wanted == "zig":
        return zig
    if wanted:
        return [] if wanted == "none" else [shlex.split(wanted)]
    return [[found] for name in ("cc", "gcc", "clang", "cl") if (found := shutil.which(name))] + zig


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--to", type=Path, default=FOLDER / LIBRARY)
    given, rest = asked.parse_known_args()
    sys.exit(0 if compile_native(Path(__file__).parent / FOLDER, given.to, *rest) else 1)
