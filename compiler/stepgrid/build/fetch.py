"""Downloads: one file by its URL, and checksums of what was fetched."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Order
from stepgrid.host.disk import is_disk_full
from stepgrid.host.files import sha256
from stepgrid.model.plan import Json

_LARGEST = 16 << 30
_SILENCE = 120.0  # seconds without a byte
_CHUNK = 1 << 20
_AGAIN = "check the network and its proxy, then run the same command again"


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
