"""A client of the language server that editors run on YAML: what it says of a text, and what it offers at a place."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from pathlib import Path
from typing import IO, Any, NamedTuple

PATIENCE = 60.0  # seconds: these machines are busy
# as an editor sets it up, but without the catalogue of schemas that it would ask the network for
SETTINGS = {"yaml": {"validate": True, "completion": True, "schemaStore": {"enable": False}}}

Message = dict[str, Any]


class Finding(NamedTuple):
    line: int  # from 1, as in a problem
    column: int
    message: str


class LanguageServer:
    """Texts are named by the file that they stand for, and never written: only the editor holds them."""

    def __init__(self, program: Path, root: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(program), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to = self._process.stdin
        self._heard: queue.Queue[Message | None] = queue.Queue()
        self._reader = threading.Thread(target=_read, args=(self._process.stdout, self._heard), daemon=True)
        self._reader.start()
        self._asked = self._opened = 0
        self._said: dict[str, list[Message]] = {}
        capabilities = {"workspace": {"configuration": True}, "textDocument": {"publishDiagnostics": {}}}
        self._ask("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": capabilities})
        self._tell("initialized", {})

    def stop(self) -> None:
        try:
            self._ask("shutdown", None)
            self._tell("exit", None)
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()

    def open(self, file: Path, text: str) -> str:
        """Its name in the server: no other text has had it, so that nothing said of another is taken for its own."""
        self._opened += 1
        uri = file.with_name(f"{self._opened}-{file.name}").as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def findings(self, uri: str) -> list[Finding]:
        """What stands in the margin of an open text."""
        while uri not in self._said:
            self._hear()
        return [_finding(each) for each in self._said[uri]]

    def offered(self, file: Path, text: str) -> set[str]:
        """What completes at the end of a text."""
        lines = text.split("\n")
        place = {"line": len(lines) - 1, "character": len(lines[-1])}
        asked = {"textDocument": {"uri": self.open(file, text)}, "position": place}
        return {item["label"] for item in self._ask("textDocument/completion", asked)["items"]}

    def _ask(self, method: str, params: Any) -> Any:
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        while True:
            heard = self._hear()
            if heard.get("id") == self._asked and "method" not in heard:
                assert "error" not in heard, heard["error"]
                return heard["result"]

    def _tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Message) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._to.flush()

    def _hear(self) -> Message:
        """The next message; what the server asks is answered on the way, and what it says of a text is kept."""
        heard = self._heard.get(timeout=PATIENCE)
        assert heard is not None, f"the language server ended with status {self._process.wait(PATIENCE)}"
        if "method" in heard and "id" in heard:
            self._send({"id": heard["id"], "result": _answer(heard)})
        if heard.get("method") == "textDocument/publishDiagnostics":
            self._said[heard["params"]["uri"]] = heard["params"]["diagnostics"]
        return heard


def _answer(heard: Message) -> Any:
    if heard["method"] != "workspace/configuration":
        return None
    return [SETTINGS.get(item["section"]) for item in heard["params"]["items"]]


def _finding(said: Message) -> Finding:
    start = said["range"]["start"]
    return Finding(start["line"] + 1, start["character"] + 1, said["message"])


def _read(stream: IO[bytes], heard: queue.Queue[Message | None]) -> None:
    while size := _size(stream):
        heard.put(json.loads(stream.read(size)))
    heard.put(None)


def _size(stream: IO[bytes]) -> int:
    """Of the next message, from its header; 0 at the end of the stream."""
    size = 0
    while (line := stream.readline()).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return size
