"""Webhooks: the findings of a batch as JSON, posted to an address."""

from __future__ import annotations

import json
import logging
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import INFO
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.stored_reports import write_document
from cdc_contracts.spark_checks.streams.deliveries import DeliveryError
from cdc_contracts.spark_checks.streams.webhook_bodies import TOKEN, WebhookTemplate

DOCUMENT_VERSION: Final = 1
TIMEOUT_SECONDS: Final = 10.0
_TRY_AGAIN: Final = frozenset({408, 425, 429})
_SERVER_ERROR: Final = 500
_REFUSED: Final = 300


def findings_document(report: Report, *, stream: str, batch: int) -> dict[str, Any] | None:
    """Return what is posted for a batch, None if it has no finding above severity info.

    `id` is the same if a batch is read again after a crash, so that the receiver can recognise it.
    """
    grave = [one for one in write_document(report)["findings"] if one["severity"] != INFO]
    if not grave:
        return None
    return {
        "webhook_version": DOCUMENT_VERSION,
        "id": f"{stream}/{batch}",
        "stream": stream,
        "batch": batch,
        "topics": list(report.source.topics or ()),
        "contract": report.contract,
        "verdict": report.verdict,
        "read": report.ledger.read,
        "quarantined": report.ledger.quarantined,
        "findings": grave,
        "findings_cut": report.findings_cut,
    }


class Webhook:
    """An address that documents are posted to; neither its path nor the token is ever shown.

    A template that has the token in the body sends it there only.
    """

    def __init__(self, url: str, token: str | None, template: WebhookTemplate | None = None) -> None:
        """Raise UsageError if it is not an address of http or https."""
        self._url, self._token, self._template = url, token, template
        logging.getLogger("httpx").setLevel(logging.WARNING)  # else it logs whole addresses
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError("not an address", where="--webhook", hint="Give https://HOST/PATH.")
        self.name = f"webhook {parts.hostname}"

    def post(self, document: dict[str, Any]) -> None:
        """Post a document. Raises DeliveryError if it is not accepted. Redirects are not followed."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": document["id"]}
        body = document if self._template is None else self._template.fill(document, self._token)
        if self._token and (self._template is None or TOKEN not in self._template.names):
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            answer = httpx.post(
                self._url, content=json.dumps(body), headers=headers, timeout=TIMEOUT_SECONDS,
                follow_redirects=False,
            )  # fmt: skip
        except httpx.HTTPError as error:
            raise DeliveryError(type(error).__name__) from None  # its text may have the address
        if answer.status_code >= _REFUSED:
            code = answer.status_code
            final = code < _SERVER_ERROR and code not in _TRY_AGAIN
            raise DeliveryError(f"answered {code}", final=final, wait=_seconds(answer.headers.get("Retry-After")))


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None
