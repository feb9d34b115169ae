"""The entries of an archive, whatever its format: its content says which, not its name."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import subprocess
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, NamedTuple

from stepgrid.build.error import BuildError

Kind = Literal["file", "folder", "link", "hard link", "other"]

_HEADER = 1 << 20  # bytes of a header that tarfile reads at once: a long name, a set of attributes
_LINK = 4096  # no link's target is longer
_IN_ZIP = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of others Python unpacks without a bound
_LONG = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_ZIP, _ZSTD = (b"PK\x03\x04", b"PK\x05\x06"), b"\x28\xb5\x2f\xfd"
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,  # zipfile's own, of a compression or version that it cannot read
    ValueError,
    OverflowError,
)


class _RefusedError(Exception):
    """It is whole, and would take more memory than it should."""


class Entry(NamedTuple):
    name: str
    kind: Kind
    mode: int
    size: int
    modified: float
    target: str = ""  # of a link
    content: IO[bytes] | None = None  # of a file; to be read before the next entry is asked for


@contextmanager
def reading(archive: Path) -> Iterator[Iterator[Entry]]:
    """What is wrong with the archive itself is a BuildError, here and while its entries are read."""
    try:
        with archive.open("rb") as file:
            yield _entries(archive, file)
    except _RefusedError as error:
        raise BuildError(f"{archive.name} is not unpacked: {error}") from None
    except _BROKEN as error:
        expected = "a whole tar (plain, .gz, .bz2, .xz, .zst) or zip file is expected"
        raise BuildError(f"{archive.name} cannot be unpacked: {expected} ({error})") from None


def _entries(archive: Path, file: IO[bytes]) -> Iterator[Entry]:
    magic = file.read(4)
    file.seek(0)
    if magic in _ZIP:
        return _of_zip(archive, file)
    return _of_zstd(file) if magic == _ZSTD else _of_tar(file, "r|*")


def _of_zstd(file: IO[bytes]) -> Iterator[Entry]:
    if not shutil.which("zstd"):
        raise BuildError("there is no zstd on PATH; install zstd")
    os.lseek(file.fileno(), 0, os.SEEK_SET)  # zstd reads from the descriptor, which what we read has moved
    command = ["zstd", "--decompress", "--stdout", "--quiet"]
    with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as zstd:
        assert zstd.stdout is not None
        yield from _of_tar(zstd.stdout, "r|")


class _Header(tarfile.TarInfo):
    """What tarfile would read into memory before anybody can look at its size."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _LONG and found.size > _HEADER:
            raise _RefusedError("it has a header of more than 1 MiB, which no source tree needs")
        if found.type == tarfile.GNUTYPE_SPARSE:
            cls._refuse_sparse()
        return found

    def _proc_gnusparse_10(self, *_: object) -> None:
        self._refuse_sparse()

    @staticmethod
    def _refuse_sparse() -> None:
        raise _RefusedError("it has a sparse file, which no source tree needs")


def _of_tar(file: IO[bytes], mode: Literal["r|", "r|*"]) -> Iterator[Entry]:
    with tarfile.open(fileobj=file, mode=mode, tarinfo=_Header) as tar:
        for member in tar:
            kind = _tar_kind(member)
            content = tar.extractfile(member) if kind == "file" else None
            mtime = float(member.mtime)
            yield Entry(member.name, kind, member.mode, member.size, mtime, member.linkname, content)


def _tar_kind(member: tarfile.TarInfo) -> Kind:
    if member.isreg():
        return "file"
    if member.isdir():
        return "folder"
    return "link" if member.issym() else "hard link" if member.islnk() else "other"


def _of_zip(archive: Path, file: IO[bytes]) -> Iterator[Entry]:
    with zipfile.ZipFile(file) as content_of:
        for info in content_of.infolist():
            if info.flag_bits & 1 or info.compress_type not in _IN_ZIP:
                wrong = "encrypted" if info.flag_bits & 1 else "not stored or deflated"
                raise BuildError(f"{archive.name} is not unpacked: its entry {info.filename!r} is {wrong}")
            mode, mtime = info.external_attr >> 16, time.mktime((*info.date_time, 0, 0, -1))
            kind = _zip_kind(info, mode)
            target = _target(content_of, info) if kind == "link" else ""
            with content_of.open(info) as content:
                yield Entry(info.filename, kind, mode, info.file_size, mtime, target, content)


def _target(content_of: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    """Cut off where it is too long for any: no file system takes it then."""
    with content_of.open(info) as content:
        return content.read(_LINK).decode(errors="surrogateescape")


def _zip_kind(info: zipfile.ZipInfo, mode: int) -> Kind:
    if info.is_dir():
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "other"
