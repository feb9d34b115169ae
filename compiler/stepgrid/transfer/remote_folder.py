"""A folder that several stores share: on a disk that all of them see, or where fsspec reaches, such as an S3 bucket."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from stepgrid.build.error import BuildError
from stepgrid.host import files
from stepgrid.host.files import make_folder, replacing, sync

LARGEST_RECORD = 1 << 20  # bytes that `read` gives at most


class RemoteFolder(Protocol):
    """Names have the form `part/name`."""

    def names(self, part: str) -> list[str]: ...
    def read(self, name: str) -> bytes: ...
    def get(self, name: str, file: Path) -> None: ...
    def put(self, file: Path, name: str) -> None: ...


def remote_folder(url: str) -> RemoteFolder:
    """Of a path, `file:` or any URL that fsspec has a package for."""
    parts = urlsplit(url)
    if len(parts.scheme) < 2:  # a path, also one that begins with a drive
        return LocalFolder(Path(url).expanduser())
    if parts.scheme == "file":
        return LocalFolder(Path(unquote(parts.path)))
    return FsspecFolder(url)


class LocalFolder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self, part: str) -> list[str]:
        with suppress(FileNotFoundError):
            found = (path.name for path in (self._path / part).iterdir())
            return sorted(f"{part}/{name}" for name in found if not name.startswith("."))
        return []

    def read(self, name: str) -> bytes:
        return files.read_bytes(self._path / name, LARGEST_RECORD)

    def get(self, name: str, file: Path) -> None:
        source = self._path / name
        if not stat.S_ISREG(source.stat().st_mode):  # a device may have no end
            raise BuildError(f"{source} is no regular file")
        shutil.copyfile(source, file)

    def put(self, file: Path, name: str) -> None:
        target = self._path / name
        make_folder(target.parent)
        with replacing(target) as new:
            shutil.copyfile(file, new)
        sync(target.parent)


class FsspecFolder:
    """With the credentials that its package finds: for S3 those of the environment, ~/.aws or the machine's role."""

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            import fsspec
        except ImportError:
            raise BuildError(f"{url}: that needs fsspec and a package for it: pip install 'stepgrid[s3]'") from None
        with self._said():
            self._system, path = fsspec.url_to_fs(url, use_listings_cache=False)
            self._path = str(path).rstrip("/")

    def names(self, part: str) -> list[str]:
        with self._said():
            try:
                found: list[Any] = self._system.ls(f"{self._path}/{part}", detail=False)
            except FileNotFoundError:
                return []
            return sorted(f"{part}/{os.path.basename(name)}" for name in found if not name.endswith("/"))  # noqa: PTH119 - of a URL

    def read(self, name: str) -> bytes:
        with self._said():
            return bytes(self._system.cat_file(f"{self._path}/{name}", 0, LARGEST_RECORD))

    def get(self, name: str, file: Path) -> None:
        with self._said():
            self._system.get_file(f"{self._path}/{name}", str(file))

    def put(self, file: Path, name: str) -> None:
        with self._said():
            self._system.makedirs(f"{self._path}/{name}".rpartition("/")[0], exist_ok=True)
            self._system.put_file(str(file), f"{self._path}/{name}")

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Each package has errors of its own."""
        try:
            yield
        except Exception as error:
            raise BuildError(f"{self._url}: {type(error).__name__}: {error}") from None
