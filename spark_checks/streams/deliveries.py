"""Deliveries: what a stream sends to other systems, in a thread of its own, so that no batch waits for them.

A delivery that fails is tried again, after one second, two, four and so on. If more wait than a bound, the oldest is
dropped. What waits when the process is killed is lost: the reports of intervals and the metrics have it all.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from cdc_contracts.spark_checks.spark.jars import Say

ATTEMPTS: Final = 8
FIRST_WAIT_SECONDS: Final = 1.0
LONGEST_WAIT_SECONDS: Final = 60.0
MOST_WAITING: Final = 100
DELIVERED: Final = "delivered"
FAILED: Final = "failed"
DROPPED: Final = "dropped"

_T = TypeVar("_T")


class DeliveryError(Exception):
    """A delivery did not arrive. The message names no address with a secret in it."""

    def __init__(self, reason: str, *, final: bool = False, wait: float | None = None) -> None:
        super().__init__(reason)
        self.final = final
        """Whether another attempt would fail as well."""
        self.wait = wait
        """The seconds that the other side asks to wait, if it does."""


class Deliveries(Generic[_T]):
    """A queue of deliveries to one target, and the thread that sends them."""

    def __init__(self, target: str, send: Callable[[_T], None], say: Say) -> None:
        self.target = target
        self.counts: Counter[str] = Counter({DELIVERED: 0, FAILED: 0, DROPPED: 0})
        self._send = send
        self._say = say
        self._waiting: deque[_T] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, daemon=True, name=f"deliveries to {target}")
        self._thread.start()

    def put(self, delivery: _T) -> None:
        """Queue a delivery; returns at once."""
        with self._changed:
            if len(self._waiting) >= MOST_WAITING:
                self._waiting.popleft()
                self.counts[DROPPED] += 1
            self._waiting.append(delivery)
            self._changed.notify_all()

    def close(self, seconds: float) -> None:
        """Wait for queued deliveries, at most this long, then drop the rest."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._say(f"warning: {self.target}: not everything was delivered before the end")

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if not self._waiting:
                    return
                delivery = self._waiting.popleft()
            self.counts[self._deliver(delivery)] += 1

    def _deliver(self, delivery: _T) -> str:
        reason, wait = "", FIRST_WAIT_SECONDS
        for attempt in range(ATTEMPTS):
            try:
                self._send(delivery)
            except DeliveryError as error:
                reason = str(error)
                if error.final or attempt + 1 == ATTEMPTS:
                    break
                self._rest(min(LONGEST_WAIT_SECONDS, max(wait, error.wait or 0)))
                wait *= 2
            else:
                return DELIVERED
        self._say(f"warning: {self.target}: {reason}; giving up")
        return FAILED

    def _rest(self, seconds: float) -> None:
        """Wait before the next attempt; at the end of the stream for less, so that it can end."""
        until = time.monotonic() + seconds
        with self._changed:
            while (left := until - time.monotonic()) > 0 and not self._closing:
                self._changed.wait(left)
        if self._closing:
            time.sleep(min(seconds, FIRST_WAIT_SECONDS))
