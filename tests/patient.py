"""HTTP requests with long timeouts: a busy machine may be slow, and the time limit of the test ends what hangs.

httpx gives up after five seconds by itself, which says more of the machine than of the server.
"""

from __future__ import annotations

import functools

import httpx

SECONDS = 300
"""Longer than any machine takes to answer, and less than a test may take."""

Client = functools.partial(httpx.Client, timeout=SECONDS)
get = functools.partial(httpx.get, timeout=SECONDS)
post = functools.partial(httpx.post, timeout=SECONDS)
put = functools.partial(httpx.put, timeout=SECONDS)
delete = functools.partial(httpx.delete, timeout=SECONDS)
