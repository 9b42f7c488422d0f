"""Build a release in `dist/` and try it: wheels, source distribution, SBOM, and images (Docker or Buildah).

`python deploy/release.py [PLATFORM...]` builds the wheels of some platforms only. Nothing is published: the workflow
`release.yml` does that, with the same files.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
SBOM: Final = ROOT / "build" / "cdc_contracts.cdx.json"
"""Not in `dist/`, all of which is uploaded to the index."""
LOCK: Final = ROOT / "requirements.lock"
SAMPLE: Final = ROOT / "contracts/dts/canal/v2/samples/insert-every-type.json"
TARGETS: Final = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
}
"""The platforms with a native part, as wheels and as the compiler name them; all others, as Windows, get `any`."""
TOOLS: Final = ("build", "cyclonedx-bom", "hatchling>=1.27", "ziglang")


def main(platforms: list[str]) -> int:
    """Build and try what is asked for; return 1 if a step failed."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        python = make_environment(Path(scratch) / "tools", *TOOLS)
        build(python, platforms or list(TARGETS))
        write_sbom(python)
        for number, package in enumerate(sorted(DIST.glob("*.tar.gz")) + fitting_wheels()):
            try_package(package, Path(scratch) / f"try-{number}")
    build_images(version)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")  # noqa: T201
    return 0


def make_environment(folder: Path, *packages: str) -> str:
    """Return the Python of a new virtual environment with some packages."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def build(python: str, platforms: list[str]) -> None:
    """Build the source distribution, a wheel for any platform, and one with the native part for each platform."""
    options = [python, "-m", "build", "--no-isolation", "--outdir", str(DIST), str(ROOT)]
    run(*options, CDC_CONTRACTS_CC="none")
    for platform in platforms:
        compiler = f"{python} -m ziglang cc -target {TARGETS[platform]}"
        run(*options, "--wheel", CDC_CONTRACTS_CC=compiler, CDC_CONTRACTS_PLATFORM=platform)
        if not list(DIST.glob(f"*{platform}.whl")):
            raise SystemExit(f"the native part of {platform} was not compiled")


def write_sbom(python: str) -> None:
    """Write the bill of materials of the locked dependencies, in CycloneDX."""
    SBOM.parent.mkdir(exist_ok=True)
    options = ["requirements", str(LOCK), "--pyproject", str(ROOT / "pyproject.toml"), "--output-file", str(SBOM)]
    run(python, "-m", "cyclonedx_py", *options)
    components = json.loads(SBOM.read_text(encoding="utf-8"))["components"]
    print(f"{SBOM.name}: {len(components)} components")  # noqa: T201


def fitting_wheels() -> list[Path]:
    """Return the wheels that this machine can install."""
    found = sorted(DIST.glob("*-any.whl"))
    if sys.platform == "linux":
        found += sorted(DIST.glob(f"*manylinux*{os.uname().machine}.whl"))
    return found


def try_package(package: Path, folder: Path) -> None:
    """Install a package alone into a new environment, and run it there."""
    make_environment(folder, "-c", str(LOCK), str(package))
    command = str(folder / "bin/cdc-contracts")
    for arguments in (["--version"], ["list"], ["check", str(SAMPLE), "--contract", "dts/canal@2"]):
        done = subprocess.run([command, *arguments], cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603
        if arguments == ["--version"]:
            native = "fast validator: native" in done.stdout
            if native != ("-any" not in package.name) and package.suffix == ".whl":
                raise SystemExit(f"{package.name}: {done.stdout}")
    print(f"tried {package.name}")  # noqa: T201


def build_images(version: str) -> None:
    """Build the images and audit a message in each, where a builder is at hand."""
    if (builder := find_builder()) is None:
        print("no images: there is no Docker that runs, and no Buildah")  # noqa: T201
        return
    for target in ("core", "spark"):
        name = f"cdc-contracts:{version}" if target == "core" else f"cdc-contracts:{version}-{target}"
        run(builder, "build", "-f", str(ROOT / "deploy/image/Dockerfile"), "--target", target, "-t", name, str(ROOT))
        engine = "local" if target == "core" else target
        command = ["audit", "file", "-", "--whole", "--contract", "dts/canal@2", "--engine", engine]
        with SAMPLE.open("rb") as message:
            subprocess.run([*start(builder, name), *command], stdin=message, check=True)  # noqa: S603
        print(f"tried {name}")  # noqa: T201


def find_builder() -> str | None:
    """Return Docker if it runs, otherwise Buildah, otherwise None."""
    docker = shutil.which("docker")
    if docker and not subprocess.run([docker, "info"], capture_output=True, check=False).returncode:  # noqa: S603
        return docker
    return shutil.which("buildah")


def start(builder: str, image: str) -> list[str]:
    """Return how a command is run in a new container of an image."""
    if not builder.endswith("buildah"):
        return [builder, "run", "--rm", "--interactive", image]
    container = subprocess.check_output([builder, "from", "--pull-never", image], text=True).strip()  # noqa: S603
    return [builder, "run", "--hostname", "localhost", container, "--", "cdc-contracts"]  # one that resolves


def run(*command: str, **environment: str) -> None:
    """Run a command to its end. Raises CalledProcessError if it fails."""
    subprocess.run(command, check=True, env={**os.environ, **environment})  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
