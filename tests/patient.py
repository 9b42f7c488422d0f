"""HTTP requests with long timeouts: a busy machine may be slow, and the time limit of the test ends what hangs.

httpx gives up after five seconds by itself, which says more of the machine than of the server.
"""

from __future__ import annotations

import functools

import httpx

SECONDS = 300
"""Longer than any machine takes to answer, and less than a test may take."""

_OPTIONS = {"timeout": SECONDS, "verify": httpx.create_ssl_context()}
"""The certificates of authorities are read once: httpx would read them again for each request."""

Client = functools.partial(httpx.Client, **_OPTIONS)
get = functools.partial(httpx.get, **_OPTIONS)
post = functools.partial(httpx.post, **_OPTIONS)
put = functools.partial(httpx.put, **_OPTIONS)
delete = functools.partial(httpx.delete, **_OPTIONS)
