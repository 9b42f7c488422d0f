"""The entry point of the process of a command."""

from __future__ import annotations

import sys

from cdc_contracts.cli.output import waiting
from cdc_contracts.registry.common import signals
from cdc_contracts.registry.common.garbage_collection import collect_rarely


def main() -> int:
    """Run the command that this process was started with, and return its exit code."""
    signals.end_at_once()
    collect_rarely()
    waiting.announce(sys.argv[1:])
    from cdc_contracts.cli import app

    return app.run(app.main)


if __name__ == "__main__":
    sys.exit(main())
