"""One file by its URL, as the machine reaches the world (its proxies, its certificates)."""

from __future__ import annotations

import hashlib
import shutil
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from stepgrid.build.error import BuildError
from stepgrid.host.disk import is_disk_full
from stepgrid.host.files import sha256

LARGEST = 16 << 30
_SILENCE = 120.0  # seconds without a byte
_CHUNK = 1 << 20
_AGAIN = "check the network and its proxy, then run the same command again"


def download(url: str, to: Path, largest: int = LARGEST) -> str:
    """The SHA-256 of what is there then."""
    parts = urlsplit(url)
    try:
        if parts.scheme == "file":
            return _copy(Path(unquote(parts.path)), to)
        return _fetch(url, to, largest)
    except (OSError, HTTPException) as error:
        if isinstance(error, OSError) and is_disk_full(error):
            raise
        raise BuildError(f"{url} cannot be had: {_why(error)}") from None


def _why(error: Exception) -> str:
    if isinstance(error, HTTPError):
        return f"its server says {error.code} {error.reason}: check the URL"
    cause = error.reason if isinstance(error, URLError) else error
    said = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return said if isinstance(cause, str) else f"{said}: {_AGAIN}"


def _copy(path: Path, to: Path) -> str:
    if not path.is_file():
        raise BuildError(f"there is no file {path}")
    shutil.copyfile(path, to)
    return sha256(to)


class _StaysSafe(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if urlsplit(newurl).scheme != "https":
            raise URLError(f"it leads to {newurl}, which is no https:// URL")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(url: str, to: Path, largest: int) -> str:
    digest, size = hashlib.sha256(), 0
    request = Request(url, headers={"User-Agent": "stepgrid"})
    with build_opener(_StaysSafe).open(request, timeout=_SILENCE) as answer, to.open("wb") as file:
        while chunk := answer.read(_CHUNK):
            size += len(chunk)
            if size > largest:
                raise BuildError(f"{url} is larger than {largest >> 30} GiB: nothing more of it is fetched")
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()
