"""A command that receives a signal at a given point: `python stopped_command.py POINT SIGNAL ARGUMENT...`.

The point is the number of a call of a Python function, so that it is the same on a busy machine, or the function's name;
-1 is when Python ends. With 0 there is no signal, and the last line of stderr tells how many calls there were.
The program knows nothing of it.
"""

import atexit
import os
import sys


def main(point, number, *arguments):
    """The command runs as its console script does."""
    count, name = 0, None if point.removeprefix("-").isdigit() else point
    at = int(point) if name is None else 0

    def note(frame, event, argument):
        nonlocal count, name
        if event == "call":
            count += 1
            if count == at or frame.f_code.co_qualname == name:
                name = None
                os.kill(os.getpid(), number)

    if at < 0:
        atexit.register(os.kill, os.getpid(), number)
    elif name is None and not at:
        atexit.register(lambda: os.write(2, f"{count}\n".encode()))
    from cdc_contracts.cli.__main__ import main as run_command

    sys.argv[1:] = arguments
    sys.setprofile(note)
    sys.exit(run_command())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
