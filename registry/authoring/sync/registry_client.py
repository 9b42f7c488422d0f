"""Client of the schema registry protocol: requests, retries, and error messages for people."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from cdc_contracts.registry.authoring.sync.subject_names import encode_subject
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    import httpx

NO_SUBJECT: Final = 40401
NO_VERSION: Final = 40402
NO_SCHEMA: Final = 40403
DELETED_BEFORE: Final = (40404, 40406)
NO_CONFIG: Final = 40408
NO_MODE: Final = 40409
_MEDIA: Final = "application/vnd.schemaregistry.v1+json"
_AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})
_PAUSES: Final = (0.2, 0.6, 1.8)
_LONGEST_PAUSE: Final = 10.0
_CONNECT_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 30.0
_MOST_ANSWER: Final = 64 * 1024 * 1024
_KEPT: Final = ("content-type", "location", "retry-after")
_LOOK: Final = "Check --url and the network."
_UNKNOWN: Final = frozenset({404, 405, 501})
_OK: Final = 300
_HINTS: Final = {
    401: "Give --user NAME with CDC_CONTRACTS_REGISTRY_PASSWORD set, or set CDC_CONTRACTS_REGISTRY_TOKEN.",
    403: "Ask the registry's administrator for permission, or use another user (--user).",
}
_REDIRECT: Final = 400


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a registry. Never printed: it may hold a password or a token."""

    url: str
    user: str | None = None
    password: str | None = None
    token: str | None = None
    authority: str | None = None

    def __repr__(self) -> str:
        return f"Access({self.url})"


class RefusedError(UnavailableError):
    """A registry understood a request and refused it. `code` is the error code of the protocol."""

    def __init__(self, what: str, *, code: int, where: str, hint: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.code = code


class RegistryClient:
    """One registry. Requests that failed on the server or the network are retried, refused ones are not."""

    def __init__(self, access: Access) -> None:
        """Raises UsageError if the URL is invalid or holds a password, or the CA file is not one of certificates."""
        import httpx

        self.url = check_url(access.url)
        headers = {"Accept": f"{_MEDIA}, application/json; q=0.5", "Content-Type": _MEDIA}
        headers["Confluent-Accept-Unknown-Properties"] = "true"
        if access.token is not None:
            headers["Authorization"] = f"Bearer {access.token}"
        login = None if access.user is None else httpx.BasicAuth(access.user, access.password or "")
        timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
        try:
            verify = _certificates(access.authority) if self.url.startswith("https") else False
            self._http = httpx.Client(headers=headers, auth=login, timeout=timeout, verify=verify)
        except (UnicodeEncodeError, ValueError) as error:
            raise UsageError(
                "the user, password or token contains characters that are not allowed in an HTTP header"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def get(self, *path: str, missing: tuple[int, ...] = (), unparsed: Collection[str] = (), **query: Any) -> Any:
        """Return the answer to a GET, None if its error code is in `missing`. Raises UnavailableError."""
        return self.send("GET", *path, missing=missing, unparsed=unparsed, **query)

    def send(
        self,
        method: str,
        *path: str,
        body: Any = None,
        missing: tuple[int, ...] = (),
        unparsed: Collection[str] = (),
        **query: Any,
    ) -> Any:
        """Return the parsed answer to a request, None if its error code is in `missing`.

        Of a content type in `unparsed` the bytes are returned. Raises RefusedError if the registry refuses,
        UnavailableError if the answer is not that of a registry.
        """
        target = "/".join((self.url, *map(encode_subject, path)))
        named = f"{method} {target}"
        answer = self._try(method, target, body, {name: _text(value) for name, value in query.items()})
        if answer.status_code < _OK:
            if _content_type(answer) in unparsed:
                return answer.content
            with _as_a_registry(named, answer):
                return answer.json()
        refusal = _refusal(answer, named)
        if refusal.code in missing:
            return None
        raise refusal

    def _try(self, method: str, target: str, body: Any, query: Mapping[str, str]) -> httpx.Response:
        import httpx

        for pause in (*_PAUSES, None):
            try:
                answer = self._ask(method, target, body, query)
            except (httpx.TransportError, httpx.InvalidURL) as error:
                hopeless = isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol) or "CERTIFICATE" in str(
                    error
                )
                if pause is None or hopeless:
                    hint = (
                        "Give --ca FILE with the certificate of the issuer." if "CERTIFICATE" in str(error) else _LOOK
                    )
                    raise UnavailableError(
                        f"the registry cannot be reached: {error or type(error).__name__}", where=self.url, hint=hint
                    ) from error
            else:
                if pause is None or answer.status_code not in _AGAIN:
                    return answer
                pause = _asked_pause(answer) or pause  # noqa: PLW2901  the server asked for this pause
            time.sleep(pause)
        raise AssertionError  # the last try returns or raises

    def _ask(self, method: str, target: str, body: Any, query: Mapping[str, str]) -> httpx.Response:
        """Return an answer, read whole. Raises UnavailableError if it is larger than any of a registry."""
        import httpx

        with self._http.stream(method, target, json=body, params=query or None) as answer:
            parts, size = [], 0
            for part in answer.iter_bytes():
                parts.append(part)
                size += len(part)
                if size > _MOST_ANSWER:
                    what = f"this is not a schema registry: it answered with more than {_MOST_ANSWER:,} bytes"
                    raise UnavailableError(what, where=f"{method} {target}", hint="Check --url.")
            headers = [(name, value) for name, value in answer.headers.items() if name.lower() in _KEPT]
            return httpx.Response(answer.status_code, headers=headers, content=b"".join(parts))


def check_url(url: str) -> str:
    """Return the URL of a registry without a trailing slash. Raises UsageError if it is invalid."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = re.sub(r"//[^@/]*@", "//…@", url)
        raise UsageError(f"`{shown}` is not the URL of a registry", hint="Write http://HOST:PORT or https://HOST.")
    if parts.username or parts.password:
        raise UsageError(
            "do not put a password in the URL: it would end up in the shell history and in logs",
            hint="Give --user NAME and set CDC_CONTRACTS_REGISTRY_PASSWORD.",
        )
    if parts.query or parts.fragment:
        raise UsageError("the URL of a registry must not contain ? or #", where=url)
    return url.rstrip("/")


def _certificates(authority: str | None) -> Any:
    import ssl

    try:
        return ssl.create_default_context(cafile=authority)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"not a certificate file: {error}", where=f"--ca {authority}") from error


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refusal(answer: httpx.Response, named: str) -> RefusedError:
    """Return the refusal of a registry. Raises UnavailableError if the answer is not that of a registry.

    This is for reads only: not every registry supports every write request.
    """
    if not named.startswith("GET ") and answer.status_code in _UNKNOWN and not _is_subject_error(answer):
        status = answer.status_code
        return RefusedError(f"the registry does not support this request ({status})", code=status, where=named)
    with _as_a_registry(named, answer):
        result = answer.json()
        code, message = int(result["error_code"]), str(result["message"])
    hint = _HINTS.get(answer.status_code, "")
    return RefusedError(f"the registry refused ({code}): {message}", code=code, where=named, hint=hint)


def _is_subject_error(answer: httpx.Response) -> bool:
    try:
        result = answer.json()
    except ValueError:
        return False
    return isinstance(result, dict) and "error_code" in result


@contextmanager
def _as_a_registry(named: str, answer: httpx.Response) -> Iterator[None]:
    """Read an answer of the protocol. Raises UnavailableError if it is something else, such as an HTML page."""
    try:
        yield
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        kind = _content_type(answer) or "no content type"
        to = f", redirecting to {answer.headers.get('location')}" if _OK <= answer.status_code < _REDIRECT else ""
        raise UnavailableError(
            f"this is not a schema registry: it answered with status {answer.status_code}, {kind}{to}",
            where=named,
            hint="Check --url: the protocol, the port and a path such as /apis/ccompat/v7.",
        ) from error


def _content_type(answer: httpx.Response) -> str:
    return str(answer.headers.get("content-type", "")).partition(";")[0]


def _asked_pause(answer: httpx.Response) -> float | None:
    """Return how long the server asks the client to wait, capped."""
    asked = answer.headers.get("retry-after", "")
    return min(float(asked), _LONGEST_PAUSE) if re.fullmatch(r"\d{1,6}", asked) else None
