"""Downloads: one file by its URL, checksums of what was fetched, and the complaints of registries' clients."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from msgspec import Struct

from stepgrid.build.commands import CommandResult
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Order
from stepgrid.host.disk import is_disk_full
from stepgrid.host.files import sha256
from stepgrid.model.plan import Json

REGISTRY_SECONDS = 3600.0  # for a client of a registry

OLD_CLIENT = "is too old for {item}: install a newer one, or name one as `{client}` under `tools:` in the site file"
PROGRAM_ADVICE = "a package's version is not always what its program says: declare the version of the program"

_LARGEST = 16 << 30
_SILENCE = 120.0  # seconds without a byte
_CHUNK = 1 << 20
_AGAIN = "check the network and its proxy, then run the same command again"
UNREACHABLE = (
    r"Could not resolve|[Cc]ould not connect|Connection (?:refused|reset|timed out)|timed out|No route to host"
    r"|Network is unreachable|Temporary failure in name resolution|NewConnectionError|UnknownHostException|Unknown host"
    r"|spurious network error|nodename nor servname|no such host|EAI_AGAIN|ENOTFOUND|ECONNREFUSED"
)
_COMPLAINTS = {
    r"No space left|Disk quota exceeded": "the disk is full: {client} could not store {item}",
    UNREACHABLE: "{client} could not reach its registry for {item}: check the network, then run the same command again",
    r"certificate|CERTIFICATE|PKIX": "{client} does not trust its registry's certificate, and did not fetch {item}",
    r"(?:HTTP\S*|status(?: code)?:?) 40[13]\b|[Uu]nauthorized|[Ff]orbidden": "{client} is not let in by its registry,"
    " and did not fetch {item}: check the client's settings",
}


def download_file(url: str, target: Path, largest: int = _LARGEST) -> str:
    """Fetch a file as the machine reaches the world (its proxies, its certificates); return its SHA-256."""
    parts = urlsplit(url)
    try:
        if parts.scheme != "file":
            return _download(url, target, largest)
        path = Path(unquote(parts.path))
        if not path.is_file():
            raise BuildError(f"there is no file {path}")
        shutil.copyfile(path, target)
        return sha256(target)
    except (OSError, HTTPException) as error:
        if isinstance(error, OSError) and is_disk_full(error):
            raise
        raise BuildError(f"{url} cannot be had: {_explain(error)}") from None


def _download(url: str, target: Path, largest: int) -> str:
    digest, size = hashlib.sha256(), 0
    request = Request(url, headers={"User-Agent": "stepgrid"})
    with build_opener(_SafeRedirects).open(request, timeout=_SILENCE) as answer, target.open("wb") as file:
        while chunk := answer.read(_CHUNK):
            size += len(chunk)
            if size > largest:
                raise BuildError(f"{url} is larger than {largest >> 30} GiB: nothing more of it is fetched")
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


class _SafeRedirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if urlsplit(newurl).scheme != "https":
            raise URLError(f"it leads to {newurl}, which is no https:// URL")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _explain(error: Exception) -> str:
    if isinstance(error, HTTPError):
        return f"its server says {error.code} {error.reason}: check the URL"
    cause = error.reason if isinstance(error, URLError) else error
    message = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return message if isinstance(cause, str) else f"{message}: {_AGAIN}"


def verify_checksum(file: Path, source: Mapping[str, Json], order: Order, advice: str = "") -> str:
    """Compare a file with the checksum of the spec or its lock file, if any; record and return its SHA-256."""
    digest = sha256(file)
    order.commands.note(f"{file.name}: {file.stat().st_size} bytes, sha256 {digest}")
    pinned = (order.pin(source) or "").removeprefix("sha256:")
    for origin, expected in {"spec": str(source.get("sha256", "")), "lock file": pinned}.items():
        if expected and expected != digest:
            message = (
                f"{file.name} is not the file that the {origin} means: its sha256 is {digest}, expected {expected}"
            )
            raise BuildError("; ".join(filter(None, (message, advice))))
    return digest


def explain_client(client: str, item: str, result: CommandResult, complaints: Mapping[str, str]) -> BuildError:
    """Explain why a registry's client failed; `complaints`: sentences by patterns of the client's words.

    They go before those that any client's words may match. A sentence may hold a group of its pattern by name.
    """
    output = f"{result.stdout}\n{result.stderr}"
    for pattern, sentence in {**complaints, **_COMPLAINTS}.items():
        if match := re.search(pattern, output):
            return BuildError(sentence.format(client=client, item=item, **match.groupdict()))
    return BuildError(f"{client} could not fetch {item}: exit status {result.status}")


class HttpClient(Struct, frozen=True):
    """A registry's client that installs programs, with this machine's settings."""

    name: str
    complaints: Mapping[str, str]  # sentences by patterns of its words
    offline: Mapping[str, str]  # variables by which it takes all from its cache

    def install(self, order: Order, item: str, argv: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        """Run it; where it reaches no registry, once more with what its cache holds."""
        output, status = "", 0
        for offline in ({}, self.offline):
            began = order.commands.log.stat().st_size if order.commands.log.exists() else 0
            environment = {**order.environment, **(variables or {}), **offline}
            status = order.commands.compile(argv, REGISTRY_SECONDS, env=environment)
            if status == 0:
                return
            with order.commands.log.open("rb") as log:
                log.seek(began)
                output = output or log.read().decode(errors="replace")
            if not re.search(UNREACHABLE, output):
                break
        raise explain_client(self.name, item, CommandResult(status, output, ""), self.complaints)
