"""What a block of a page presupposes: said above it in words, where the page has the comment `<!-- needs: … -->`."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

_COMMENT: Final = re.compile(r"^<!-- needs: ([^>]+) -->$", re.MULTILINE)
NEEDS: Final = MappingProxyType(
    {
        "kafka": "a Kafka broker at the address shown, and the extra `kafka` or `spark`",
        "spark": "the extra `spark`, and Java 17 or 21",
        "spark and a minute": "the extra `spark`, and Java 17 or 21; it takes a minute",
        "kcat": "a Kafka broker at the address shown, and kcat",
        "Kubernetes": "a cluster of Kubernetes, and kubectl",
        "PyFlink": "PyFlink",
        "pytest": "pytest, in the same virtual environment",
        "git": "git",
        "a git repository": "a git repository with contracts",
        "a checkout": "a checkout of the repository",
        "a new virtual environment": "Python 3.11 or newer; nothing is installed yet",
        "a server": "a registry that runs, see [Serve a registry](registry.md)",
        "a report": "a report in JSON of an earlier audit",
        "a decoded directory": "a directory that `decode` has written",
        "a folder of contracts": "a folder of contracts of your own",
        "a changed catalogue": "a folder of contracts with a change",
        "table contracts": "a folder of table contracts",
        "messages": "a file of messages of your own",
        "the extra arrow": "the extra `arrow`",
    }
)
"""What a block needs, by the word of its comment."""
UNSAID: Final = frozenset({"no output shown", "a terminal"})
"""Words of comments that are for tests."""


def say_needs(markdown: str) -> str:
    """Return a page in English with what its blocks need in words."""

    def say(found: re.Match[str]) -> str:
        words = NEEDS.get(found[1])
        return found[0] if words is None else f"{found[0]}\n\n*Needs {words}.*{{: .needs }}\n"

    return _COMMENT.sub(say, markdown)
