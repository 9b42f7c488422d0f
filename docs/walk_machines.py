"""Machines of a walk: what can be carried out on one, and the environment of its shell."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from block_needs import NEEDS

INSTALLATION: Final = "a new virtual environment"
INDEX: Final = "a package index"
KAFKA: Final = "kafka"
PROVIDED: Final = frozenset({INSTALLATION, INDEX, KAFKA, "a checkout", "git", "pytest", "the extra arrow"})
"""What blocks need and every machine has: a walk starts a broker, and pages install the rest before they need it."""
_JAVA: Final = frozenset({"spark", "spark and a minute", "kafka and spark"})
_KEPT: Final = re.compile(r"LANG|JAVA_HOME|PIP_\w+|\w+_PROXY|CDCC?_\w+", re.IGNORECASE)
_AUTHOR: Final = {
    f"GIT_{who}_{what}": "walk@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


@dataclass(frozen=True)
class Machine:
    """A machine by the programs that it does not have."""

    name: str
    missing: frozenset[str] = frozenset()

    def has(self, program: str) -> bool:
        """Whether a program is on the PATH of this machine."""
        return program not in self.missing and shutil.which(program) is not None

    def obstacle(self, need: str | None) -> str:
        """Return in words what a block needs and this machine does not have; nothing if the block can be run."""
        if need is None or need in PROVIDED or (need in _JAVA and self.has("java")) or self.has(need):
            return ""
        return NEEDS[need][0] if need in NEEDS else need

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment of a shell whose home is a new folder `home`; programs are linked from `bin-…`."""
        home = folder / "home"
        home.mkdir()
        kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
        if "java" in self.missing:
            kept.pop("JAVA_HOME", None)
        return {**kept, **_AUTHOR, "HOME": str(home), "PATH": self._path(folder)}

    def _path(self, folder: Path) -> str:
        """Return the PATH without the missing programs: a folder that holds one is replaced by links to the others."""
        places = []
        for number, place in enumerate(os.environ["PATH"].split(os.pathsep)):
            if any(Path(place, program).exists() for program in self.missing):
                links = folder / f"bin-{number}"
                links.mkdir()
                for program in Path(place).iterdir():
                    if program.name not in self.missing:
                        links.joinpath(program.name).symlink_to(program)
                places.append(str(links))
            else:
                places.append(place)
        return os.pathsep.join(places)


MACHINES: Final = (
    Machine("Python", frozenset({"java", "cc", "gcc", "clang", "kcat"})),
    Machine("Python and Java"),
)
