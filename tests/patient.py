"""HTTP requests with long timeouts: a busy machine may be slow, and the time limit of the test ends what hangs.

httpx gives up after five seconds by itself, which says more of the machine than of the server.
"""

from __future__ import annotations

import functools

import httpx

SECONDS = 300
"""Longer than any machine takes to answer, and less than a test may take."""

_AUTHORITIES = httpx.create_ssl_context()
"""Read once: httpx would read the certificates again for each request."""

Client = functools.partial(httpx.Client, timeout=SECONDS, verify=_AUTHORITIES)
get = functools.partial(httpx.get, timeout=SECONDS, verify=_AUTHORITIES)
post = functools.partial(httpx.post, timeout=SECONDS, verify=_AUTHORITIES)
put = functools.partial(httpx.put, timeout=SECONDS, verify=_AUTHORITIES)
delete = functools.partial(httpx.delete, timeout=SECONDS, verify=_AUTHORITIES)
