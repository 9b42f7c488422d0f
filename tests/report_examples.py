"""Reports written by hand for the tests of report formats; each is a file next to those tests."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "registry" / "report"
NAMES = ("pass", "drift", "attack", "interrupted", "empty", "no-partition", "several", "version-1")


def path_of(name):
    return FOLDER / f"{name}.json"


def example(name, **changes):
    return json.loads(path_of(name).read_bytes()) | changes
