"""Requests and answers, written by hand, in files: each is one conversation with an empty registry.

A turn says what is asked (`ask`, `body` as JSON or `text` as it is, `headers`) and what is answered: `status`, 200
where it is not said; `answer`, the whole body as JSON; `error`, its code and message, with no other key; `has`, some
keys of the answer; `told`, headers. `{{name}}` is what `keep` took from an earlier answer.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import patient
import pytest
import yaml
from registry_servers import serving

from cdc_contracts.registry.server.service.request_service import Options

FILES = sorted(Path(__file__).parent.glob("*.http.yaml"))
V1 = "application/vnd.schemaregistry.v1+json"
KEYS = {"ask", "body", "text", "headers", "status", "answer", "error", "has", "told", "keep", "note", "matches"}


STORES = ("sqlite", "postgresql")
ON_STORES = [
    pytest.param(file, store, id=f"{file.name.removesuffix('.http.yaml')}-{store}", marks=marks)
    for number, file in enumerate(FILES)
    for place, store in enumerate(STORES)
    for marks in ([pytest.mark.nightly] if (number + place) % 2 else [],)
]
"""Each conversation with each store; by default they take turns, so that each has a conversation with one of them."""


@pytest.mark.parametrize(("file", "store_url"), ON_STORES, indirect=["store_url"])
def test_a_conversation_goes_as_it_was_written_down(file, store_url):
    conversation = yaml.safe_load(file.read_text(encoding="utf-8"))
    with serving(store_url, Options(**conversation.get("options", {}))) as address, patient.Client() as client:
        kept = {}
        for number, turn in enumerate(conversation["turns"], 1):
            assert set(turn) <= KEYS, f"turn {number} has a key that means nothing"
            said = fill(turn, kept)
            answer = ask(client, address, said)
            where = f"{file.name}, turn {number}: {said['ask']}\n{answer.status_code} {answer.text}"
            check(answer, said, where)
            for name, key in said.get("keep", {}).items():
                kept[name] = answer.json()[key]


def fill(turn, kept):
    """The turn with what earlier answers said in place of names."""
    text = json.dumps(turn)
    text = re.sub(r'"\{\{(\w+)\}\}"', lambda found: json.dumps(kept[found[1]]), text)
    return json.loads(re.sub(r"\{\{(\w+)\}\}", lambda found: str(kept[found[1]]), text))


def ask(client, address, turn):
    method, _, path = turn["ask"].partition(" ")
    given = turn.get("headers", {})
    headers = {name: value for name, value in given.items() if value is not None}
    content = turn.get("text")
    if "body" in turn:
        content = json.dumps(turn["body"])
    if content is not None and "Content-Type" not in given:
        headers.setdefault("Content-Type", V1)
    request = client.build_request(method, address + path, content=content, headers=headers)
    if "Accept" in given and given["Accept"] is None:
        del request.headers["Accept"]
    return client.send(request)


def check(answer, turn, where):
    error = turn.get("error")
    expected = turn.get("status", 200 if error is None else int(str(error["code"])[:3]))
    assert answer.status_code == expected, where
    if error is not None:
        assert set(answer.json()) == {"error_code", "message"}, where
        assert answer.json()["error_code"] == error["code"], where
        if "message" in error:
            assert answer.json()["message"] == error["message"], where
        for part in error.get("says", ()):
            assert part in answer.json()["message"], where
    if "answer" in turn:
        assert answer.json() == turn["answer"], where
    for name, value in turn.get("has", {}).items():
        assert answer.json().get(name) == value, where
    for name, pattern in turn.get("matches", {}).items():
        assert re.fullmatch(pattern, str(answer.json()[name]), re.DOTALL), where
    for name, value in turn.get("told", {}).items():
        assert answer.headers.get(name) == value, where
