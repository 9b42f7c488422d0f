"""Request log: one line per request and event on stderr, without headers, bodies and queries."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from starlette.types import Scope

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.server.service.exchanges import Exchanges

REQUESTS: Final = logging.getLogger("cdc_contracts.server.requests")
_LONGEST_PATH: Final = 512
_LEVELS: Final = {"cdc_contracts.server": logging.INFO, "uvicorn": logging.WARNING}


class RequestLog(Exchanges):
    """Logs each request when it is answered."""

    def note(self, scope: Scope, status: int, spent: float) -> None:
        REQUESTS.info("%s", status, extra={"request": _request(scope, status, spent)})


def _request(scope: Scope, status: int, spent: float) -> dict[str, Any]:
    raw = scope.get("raw_path") or scope["path"].encode()
    path = raw.split(b"?")[0].decode("ascii", "backslashreplace")
    client = scope.get("client") or ("-",)
    return {
        "method": visible(scope["method"], most=16),
        "path": visible(path, most=_LONGEST_PATH),
        "status": status,
        "ms": round(spent * 1000, 1),
        "user": scope.get("state", {}).get("user"),
        "client": client[0],
    }


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"time": _now(record), "level": record.levelname.lower()}
        request = getattr(record, "request", None)
        line |= {"event": "request", **request} if request else {"event": "log", "message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        request = getattr(record, "request", None)
        if request:
            who = visible(request["user"] or "-")
            result = f"{request['client']} {who} {request['method']} {request['path']} {request['status']}"
            return f"{_now(record)} {result} {request['ms']}ms"
        result = f"{_now(record)} {record.levelname.lower()}: {record.getMessage()}"
        return f"{result}\n{self.formatException(record.exc_info)}" if record.exc_info else result


@contextmanager
def open_log(form: str, stream: TextIO | None = None) -> Iterator[None]:
    """Log to stderr as `json` or `text` while the body runs; `none` leaves out requests."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    loggers = [(logging.getLogger(name), level) for name, level in _LEVELS.items()]
    before = [(logger, logger.handlers, logger.level, logger.propagate) for logger, _ in loggers]
    for logger, level in loggers:
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    REQUESTS.disabled = form == "none"
    try:
        yield
    finally:
        for logger, handlers, level, propagate in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)
        REQUESTS.disabled = False


def _now(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
