"""The YAML language server that editors start, with the requests of an editor."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

PACKAGE = "yaml-language-server@1.25.0"


def language_server(folder: Path) -> list[str] | str:
    """Return the command of the server, installed below a folder unless it is there; else why there is none."""
    found = shutil.which("yaml-language-server")
    if found:
        return [found, "--stdio"]
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return "neither yaml-language-server nor node and npm are on this machine"
    installed = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if installed.returncode:
        return f"npm does not install {PACKAGE}: {installed.stderr.strip().splitlines()[-1:]}"
    return [node, str(folder / "node_modules/yaml-language-server/bin/yaml-language-server"), "--stdio"]


class Editor:
    """An editor with one language server; what it opens stands in the folder of a file and is on no disk."""

    def __init__(self, command: list[str], root: Path) -> None:
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._last = 0
        self._diagnostics: dict[str, list[dict]] = {}
        self._ask("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}})
        self._tell("initialized", {})

    def diagnose(self, file: Path, text: str) -> list[tuple[int, str]]:
        """Return the line, from 1, and the message of everything that is wrong with a file."""
        uri = self._open(file, text)
        while uri not in self._diagnostics:
            self._read()
        return [(one["range"]["start"]["line"] + 1, one["message"]) for one in self._diagnostics[uri]]

    def complete(self, file: Path, text: str) -> dict[str, str]:
        """Return what may stand at the mark `|` of a text, with what each means."""
        before, _, after = text.partition("|")
        uri = self._open(file, before + after)
        answer = self._ask("textDocument/completion", _at(uri, before))
        items = answer["items"] if isinstance(answer, dict) else answer
        return {one["label"]: _plain(one.get("documentation")) for one in items}

    def explain(self, file: Path, text: str) -> str:
        """Return what is shown over the mark `|` of a text."""
        before, _, after = text.partition("|")
        uri = self._open(file, before + after)
        return _plain((self._ask("textDocument/hover", _at(uri, before)) or {}).get("contents"))

    def close(self) -> None:
        self._server.kill()
        self._server.wait()
        self._server.stdin.close()
        self._server.stdout.close()

    def _open(self, file: Path, text: str) -> str:
        """Open a text under a name of its own, so that no answer is about an earlier one."""
        self._last += 1
        uri = file.with_name(f"{self._last}-{file.name}").as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def _ask(self, method: str, params: dict) -> dict | list | None:
        self._last += 1
        number = self._last
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == number and "method" not in message:
                return message.get("result")

    def _tell(self, method: str, params: dict) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: dict) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._server.stdin.flush()

    def _read(self) -> dict:
        """Return the next message; requests of the server are answered, diagnostics are kept."""
        length = 0
        while line := self._server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise EOFError("the language server is gone")
        message = json.loads(self._server.stdout.read(length))
        if "method" in message and "id" in message:
            items = message.get("params", {}).get("items", []) if isinstance(message.get("params"), dict) else []
            self._send({"id": message["id"], "result": [None for _ in items]})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self._diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message


def _at(uri: str, before: str) -> dict:
    """Return the place behind a text."""
    lines = before.split("\n")
    return {
        "textDocument": {"uri": uri},
        "position": {"line": len(lines) - 1, "character": len(lines[-1])},
    }


def _plain(documentation: str | dict | list | None) -> str:
    if isinstance(documentation, dict):
        return documentation.get("value", "")
    return documentation if isinstance(documentation, str) else ""
