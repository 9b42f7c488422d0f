"""Signals: SIGINT and SIGTERM each end the process of a command silently, with the exit code of the signal.

    loading, and the way out    the process ends at once: nothing has begun, or all is done
    the work of the command     `Stopped` is raised; a second signal ends the process at once
    a run that reports          the run ends at its next step; a second signal raises `Stopped`

Python runs a handler between two of its own steps only. A thread therefore watches for what no handler can end: a call
of C that does not come back, and work that goes on although it was asked to end. It ends the process after a timeout.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    import socket

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
TIMEOUT_SECONDS: Final = 10.0
"""How long a handler may take to run."""
ENDING_SECONDS: Final = 20.0
"""How long the work may take to end after `Stopped` was raised: a broker or a session is stopped first."""

_NOTED: Final = 0
_RAISED: Final = 255
"""What handlers report to the watching thread; no signal has these numbers."""
_AGAIN_SECONDS: Final = 0.05


class Stopped(BaseException):
    """The process was asked to end by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        return code_of(self.number)


class _Process:
    """The state of signals: which has raised `Stopped`, and how the watching thread is notified."""

    def __init__(self) -> None:
        self.raised: int | None = None
        self.watcher: socket.socket | None = None

    def announce(self, answer: int) -> None:
        if self.watcher is not None:
            self.watcher.send(bytes([answer]))


_process: Final = _Process()


class Handler:
    """A handler that reports to the watching thread when it ran, and whether it raises."""

    def __init__(self, act: Callable[[int], None], answer: int = _NOTED) -> None:
        self.act = act
        self.answer = answer

    def __call__(self, number: int, frame: FrameType | None) -> None:
        _process.announce(self.answer)
        self.act(number)


def code_of(number: int) -> int:
    """Return the exit code of a process that a signal has ended, as a shell reports it."""
    return 128 + number


def raised() -> int | None:
    """Return the signal that has raised `Stopped` in this process; whatever fails after it, fails because of it."""
    return _process.raised


def end_at_once() -> None:
    """Make a signal end the process at once from now on. Has no effect outside the main thread."""
    if threading.current_thread() is threading.main_thread():
        _install(Handler(_exit))


@contextmanager
def raising() -> Iterator[None]:
    """Make a signal raise `Stopped` in the block. Has no effect outside the main thread."""
    with handling(Handler(_raise, _RAISED)):
        _process.raised = None
        yield


@contextmanager
def noting(note: Callable[[int], None]) -> Iterator[None]:
    """`note` is called with the first signal in the block; a second one does what it did before the block."""
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def act(number: int) -> None:
        _restore(before)
        note(number)

    with handling(Handler(act)):
        yield


@contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """The handler is called for signals in the block, unless they are ignored by inheritance, as of `nohup`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        _install(handler)
        yield
    finally:
        _restore(before)


@contextmanager
def kept() -> Iterator[None]:
    """What a library sets for SIGINT in the block does not outlive it."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def watch() -> None:
    """A thread ends this process where a signal cannot; once for the process, by its main thread."""
    import logging
    import socket

    reader, writer = socket.socketpair()
    writer.settimeout(0)
    _process.watcher = writer
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True, name="signals").start()
    sys.unraisablehook = _raise_again
    logging.getLogger("py4j").addHandler(logging.NullHandler())


def _install(handler: Handler) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _restore(before: dict[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def _raise(number: int) -> NoReturn:
    if _process.raised is not None:
        _exit(number)
    _process.raised = number
    raise Stopped(number)


def _exit(number: int) -> NoReturn:
    os._exit(code_of(number))


def _raise_again(unraisable: Any) -> None:
    """Raise `Stopped` once more where it came up in a destructor or a callback of C, which nothing leaves."""
    if isinstance(unraisable.exc_value, Stopped):
        number, _process.raised = unraisable.exc_value.number, None
        # Sent to the main thread: a signal that another thread takes wakes up no call that the main thread waits in.
        main = threading.main_thread().ident or 0
        threading.Timer(_AGAIN_SECONDS, signal.pthread_kill, [main, number]).start()
    elif _process.raised is None:
        sys.__unraisablehook__(unraisable)


def _watch(reader: socket.socket) -> None:
    """Read the signals that came, and after each what a handler answers, in the order in which it happened."""
    while True:
        number = reader.recv(1)[0]
        if number not in SIGNALS or not isinstance(signal.getsignal(number), Handler):
            continue  # others that handle signals, as a server does, answer for themselves
        reader.settimeout(TIMEOUT_SECONDS)
        try:
            while (answer := reader.recv(1)[0]) != _NOTED:
                if answer == _RAISED:
                    reader.settimeout(ENDING_SECONDS)
        except TimeoutError:
            _exit(number)
        reader.settimeout(None)
