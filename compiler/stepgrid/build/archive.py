"""Archives: entries of any format, unpacked without trust, and the source of a tree in an archive.

Nothing is written outside the folder, or through a link. An archive's content says which format it has, not its name.
"""

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from stepgrid.build import fetch
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact, Material, Order
from stepgrid.language.sources import source_faults
from stepgrid.model.plan import Json

ENTRIES = 2_000_000
LARGE = 4 << 30  # bytes that any archive may come to; more is a matter of its own size
RATIO = 100

Kind = Literal["file", "folder", "link", "hard link", "other"]

_PATH = 4096  # no path is longer
_SETUID = stat.S_ISUID | stat.S_ISGID
_HEADER = 1 << 20  # bytes of a header that tarfile reads at once: a long name, a set of attributes
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # Python unpacks others without a bound
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


class Tarball:
    """The source of a tree in an archive: nothing of it is unpacked before its checksum is right."""

    route = "tarball"

    def describe(self, source: Mapping[str, Json]) -> str:
        return f"tarball {source[self.route]}"

    def fetch(self, source: Mapping[str, Json], into: Path, order: Order) -> Material:
        for fault in source_faults(source):
            raise BuildError(f"the source cannot be used: {fault.message}")
        url, expected = str(source[self.route]), str(source["sha256"])
        name = Path(unquote(urlsplit(url).path)).name or "archive"
        file = into / ".download"
        mirror = order.site.mirror(url)
        digest = fetch.download_file(Path(mirror).as_uri() if mirror.startswith("/") else mirror, file)
        order.commands.note(f"{url}: {file.stat().st_size} bytes, sha256 {digest}")
        if digest != expected:
            raise BuildError(f"{url} is not the file that the spec means: its sha256 is {digest}, expected {expected}")
        archive = file.rename(into / name)
        unpack(archive, into / "tree", strip=True)
        archive.unlink()
        return Material(
            tree=into / "tree",
            artifacts=(Artifact(url, name, digest),),
            quality={"route": "source"},
            advice="declare the version that the tree has, or another archive",
        )


def unpack(
    archive: Path, into: Path, strip: bool = False, limit: int | None = None, drop_absolute_links: bool = False
) -> None:
    """Unpack into a folder that is new or empty. `strip`: a single top folder is left out.

    `limit`: the bytes that it may come to. `drop_absolute_links`: else an archive that has any is refused.
    """
    into.mkdir(parents=True, exist_ok=True)
    bound = limit if limit is not None else max(LARGE, RATIO * archive.stat().st_size)
    extraction = _Extraction(archive.name, into, bound, drop_absolute_links)
    with reading(archive) as entries:
        for entry in entries:
            extraction.add(entry)
    extraction.create_links()
    if strip:
        _strip(into)
    _check_links(archive.name, into)


class _Extraction(Struct):
    archive: str
    into: Path
    remaining: int  # bytes
    drop_absolute_links: bool
    entries: int = 0
    links: dict[Path, str] = {}  # created last, so that nothing can be written through one

    def add(self, entry: ArchiveEntry) -> None:
        self.entries += 1
        self.remaining -= max(entry.size, 0)
        if self.remaining < 0 or self.entries > ENTRIES:
            raise BuildError(f"{self.archive} holds more than an archive of its size does: nothing more is unpacked")
        path = self._path(entry.name)
        if entry.kind == "other":
            raise self._refuse(entry.name, "is neither a file, a folder nor a link")
        if entry.kind == "folder":
            self._create_folder(path, entry.name)
        elif entry.kind == "link":
            self._add_link(path, entry)
        else:
            self._add_file(path, entry)

    def create_links(self) -> None:
        for path, target in self.links.items():
            name = str(path.relative_to(self.into))
            self._create_folder(path.parent, name)
            if os.path.lexists(path):
                raise self._refuse(name, "is there twice, once as a link")
            path.symlink_to(target)

    def _path(self, name: str) -> Path:
        if name.startswith("/"):
            raise self._refuse(name, "is an absolute path")
        if ".." in PurePosixPath(name).parts:
            raise self._refuse(name, "leads out of its folder")
        return self.into / name

    def _create_folder(self, path: Path, name: str) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise self._refuse(name, "needs a folder where it has a file") from None

    def _add_link(self, path: Path, entry: ArchiveEntry) -> None:
        if entry.target.startswith("/") and self.drop_absolute_links:
            return
        if entry.target.startswith("/") or "\0" in entry.target or not entry.target:
            raise self._refuse(entry.name, f"is a link out of its folder, to {entry.target}")
        if len(entry.target) >= _PATH:
            raise self._refuse(entry.name, "is a link to a name that is too long for any file")
        if self.links.setdefault(path, entry.target) != entry.target:
            raise self._refuse(entry.name, "is there twice, once as a link")

    def _add_file(self, path: Path, entry: ArchiveEntry) -> None:
        if entry.mode & _SETUID:
            raise self._refuse(entry.name, "would run with the rights of its owner (setuid or setgid)")
        self._create_folder(path.parent, entry.name)
        if path.is_dir():
            raise self._refuse(entry.name, "needs a file where it has a folder")
        if entry.kind == "hard link":
            target = self._path(entry.target)
            if not target.is_file():
                raise self._refuse(entry.name, f"is a link to {entry.target}, which is no file before it")
            if target != path:
                path.unlink(missing_ok=True)
                os.link(target, path)
            return
        path.unlink(missing_ok=True)  # of files the last one counts; it must not write into a hard link
        assert entry.content is not None
        with path.open("xb") as file:
            shutil.copyfileobj(entry.content, file, 1 << 20)
            if file.tell() != entry.size:
                raise self._refuse(entry.name, "is not as long as the archive says")
        path.chmod(0o755 if entry.mode & 0o100 else 0o644)
        os.utime(path, (entry.modified, entry.modified))  # a make that compares times must not find work

    def _refuse(self, name: str, reason: str) -> BuildError:
        return BuildError(f"{self.archive} is not unpacked: its entry {name!r} {reason}")


def _strip(into: Path) -> None:
    top = list(into.iterdir())
    if len(top) == 1 and top[0].is_dir() and not top[0].is_symlink():
        aside = into.with_name(f".{into.name}~")
        top[0].rename(aside)
        into.rmdir()
        aside.rename(into)


def _check_links(archive: str, into: Path) -> None:
    """Resolve links as the file system does: a path that looks harmless may lead out through another link."""
    root = os.path.realpath(into)
    for folder, folders, files in os.walk(into):
        for link in (Path(folder, name) for name in (*folders, *files)):
            if link.is_symlink() and os.path.commonpath((root, os.path.realpath(link))) != root:
                name = str(link.relative_to(into))
                reason = f"is a link out of its folder, to {link.readlink()}"
                raise BuildError(f"{archive} is not unpacked: its entry {name!r} {reason}")


# Entries of an archive, one after the other, as bounded as its format allows.


class ArchiveEntry(NamedTuple):
    name: str
    kind: Kind
    mode: int
    size: int
    modified: float
    target: str = ""  # of a link
    content: IO[bytes] | None = None  # of a file; to be read before the next entry is asked for


class _TooLargeError(Exception):
    """An archive that is valid, and would take more memory than it should."""


@contextmanager
def reading(archive: Path) -> Iterator[Iterator[ArchiveEntry]]:
    """Open an archive; a fault of the archive itself is a BuildError, also while its entries are read."""
    try:
        with archive.open("rb") as file:
            yield _entries(archive, file)
    except _TooLargeError as error:
        raise BuildError(f"{archive.name} is not unpacked: {error}") from None
    except _BROKEN as error:
        expected = "a whole tar (plain, .gz, .bz2, .xz, .zst) or zip file is expected"
        raise BuildError(f"{archive.name} cannot be unpacked: {expected} ({error})") from None


def _entries(archive: Path, file: IO[bytes]) -> Iterator[ArchiveEntry]:
    magic = file.read(4)
    file.seek(0)
    if magic in _ZIP:
        return _zip_entries(archive, file)
    return _zstd_entries(file) if magic == _ZSTD else _tar_entries(file, "r|*")


def _zstd_entries(file: IO[bytes]) -> Iterator[ArchiveEntry]:
    if not shutil.which("zstd"):
        raise BuildError("there is no zstd on PATH; install zstd")
    os.lseek(file.fileno(), 0, os.SEEK_SET)  # zstd reads from the descriptor, which what we read has moved
    command = ["zstd", "--decompress", "--stdout", "--quiet"]
    with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as zstd:
        assert zstd.stdout is not None
        yield from _tar_entries(zstd.stdout, "r|")


class _Header(tarfile.TarInfo):
    """A header that is bounded before tarfile reads it into memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _LONG and header.size > _HEADER:
            raise _TooLargeError("it has a header of more than 1 MiB, which no source tree needs")
        if header.type == tarfile.GNUTYPE_SPARSE:
            cls._refuse_sparse()
        return header

    def _proc_gnusparse_10(self, *_: object) -> None:
        self._refuse_sparse()

    @staticmethod
    def _refuse_sparse() -> None:
        raise _TooLargeError("it has a sparse file, which no source tree needs")


def _tar_entries(file: IO[bytes], mode: Literal["r|", "r|*"]) -> Iterator[ArchiveEntry]:
    with tarfile.open(fileobj=file, mode=mode, tarinfo=_Header) as tar:
        for member in tar:
            kind: Kind = "link" if member.issym() else "hard link" if member.islnk() else "other"
            kind = "file" if member.isreg() else "folder" if member.isdir() else kind
            content = tar.extractfile(member) if kind == "file" else None
            mtime = float(member.mtime)
            yield ArchiveEntry(member.name, kind, member.mode, member.size, mtime, member.linkname, content)


def _zip_entries(archive: Path, file: IO[bytes]) -> Iterator[ArchiveEntry]:
    with zipfile.ZipFile(file) as zip_file:
        for info in zip_file.infolist():
            if info.flag_bits & 1 or info.compress_type not in _ZIP_METHODS:
                problem = "encrypted" if info.flag_bits & 1 else "not stored or deflated"
                raise BuildError(f"{archive.name} is not unpacked: its entry {info.filename!r} is {problem}")
            mode, mtime = info.external_attr >> 16, time.mktime((*info.date_time, 0, 0, -1))
            kind: Kind = "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "other"
            kind = "folder" if info.is_dir() else "link" if stat.S_ISLNK(mode) else kind
            target = ""
            if kind == "link":  # cut off where it is too long for any file system
                with zip_file.open(info) as content:
                    target = content.read(_PATH).decode(errors="surrogateescape")
            with zip_file.open(info) as content:
                yield ArchiveEntry(info.filename, kind, mode, info.file_size, mtime, target, content)
