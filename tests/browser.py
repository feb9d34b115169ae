"""A page in headless Chromium, over its debugging pipe: what it runs, logs, asks for and shows."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"),
)
PHONE = 390  # pixels
JOIN = """\
import fcntl, os, sys
high = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(high[0], 3), os.dup2(high[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""  # the browser reads from file descriptor 3 and writes to 4


@dataclass(slots=True)
class Page:
    """One tab; commands are answered in turn, events are kept."""

    to: BinaryIO
    back: BinaryIO
    session: str | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    number: int = 0
    rest: bytes = b""

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        said = {"id": self.number, "method": method, "params": params}
        self.to.write(json.dumps(said | ({"sessionId": self.session} if self.session else {})).encode() + b"\0")
        self.to.flush()
        while (found := self._next()).get("id") != self.number:
            self.events.append(found)
        assert "error" not in found, found["error"]
        result: dict[str, Any] = found["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            more = os.read(self.back.fileno(), 1 << 20)
            assert more, "the browser is gone"
            self.rest += more
        said, _, self.rest = self.rest.partition(b"\0")
        found: dict[str, Any] = json.loads(said)
        return found

    def open(
        self,
        path: Path,
        width: int = 1280,
        scripts: bool = True,
        dark: bool = False,
        media: str = "",
        fragment: str = "",
    ) -> None:
        """Loaded when it returns."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        if fragment:  # of the page that is shown, it would load nothing
            self._load("about:blank")
        self._load(path.absolute().as_uri() + fragment)

    def _load(self, url: str) -> None:
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def complaints(self) -> list[str]:
        """Of its console: exceptions, errors, warnings."""
        self.run("1")
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self.events if event["method"] in kinds]

    def requests(self) -> list[str]:
        """All addresses that it asked for."""
        sent = (event for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def picture(self, path: Path, whole: bool = False) -> None:
        found = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def paper(self) -> bytes:
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """`folder`: of its profile."""
    (theirs, ours), (back, answers) = os.pipe(), os.pipe()
    argv = ["chromium", *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    joined = [sys.executable, "-c", JOIN, str(theirs), str(answers), *argv]
    quiet = subprocess.DEVNULL
    with (
        subprocess.Popen(joined, pass_fds=(theirs, answers), stdout=quiet, stderr=quiet) as process,
        os.fdopen(ours, "wb") as to,
        os.fdopen(back, "rb") as answered,
    ):
        os.close(theirs)
        os.close(answers)
        try:
            yield _tab(Page(to, answered))
        finally:
            process.kill()


def _tab(page: Page) -> Page:
    target = page.ask("Target.createTarget", url="about:blank")["targetId"]
    page.session = page.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        page.ask(f"{domain}.enable")
    return page
