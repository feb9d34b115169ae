"""Unpacks an archive without trusting it: nothing is written outside the folder, or through a link."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from stepgrid.build.error import BuildError
from stepgrid.build.fetch.archive_reader import Entry, reading

ENTRIES = 2_000_000
LARGE = 4 << 30  # bytes that any archive may come to; more is a matter of its own size
RATIO = 100
_PATH = 4096  # no path is longer
_SETUID = stat.S_ISUID | stat.S_ISGID


def unpack(
    archive: Path, into: Path, strip: bool = False, limit: int | None = None, drop_absolute_links: bool = False
) -> None:
    """Into a folder that is made for it, or there and empty. `strip`: a single top folder is left out.

    `limit`: the bytes that it may come to. `drop_absolute_links`: one that has any is else refused.
    """
    into.mkdir(parents=True, exist_ok=True)
    bound = limit if limit is not None else max(LARGE, RATIO * archive.stat().st_size)
    unpacking = _Unpacking(archive.name, into, bound, drop_absolute_links)
    with reading(archive) as entries:
        for entry in entries:
            unpacking.take(entry)
    unpacking.make_links()
    if strip:
        _strip(into)
    _check_links(archive.name, into)


@dataclass(slots=True)
class _Unpacking:
    archive: str
    into: Path
    left: int  # bytes
    drop_absolute_links: bool
    entries: int = 0
    links: dict[Path, str] = field(default_factory=dict)  # made last, so that nothing can be written through one

    def take(self, entry: Entry) -> None:
        self.entries += 1
        self.left -= max(entry.size, 0)
        if self.left < 0 or self.entries > ENTRIES:
            raise BuildError(f"{self.archive} holds more than an archive of its size does: nothing more is unpacked")
        path = self._path(entry.name)
        if entry.kind == "other":
            raise self._refused(entry.name, "is neither a file, a folder nor a link")
        if entry.kind == "folder":
            self._folder(path, entry.name)
        elif entry.kind == "link":
            self._link(path, entry)
        else:
            self._file(path, entry)

    def make_links(self) -> None:
        for path, target in self.links.items():
            name = str(path.relative_to(self.into))
            self._folder(path.parent, name)
            if os.path.lexists(path):
                raise self._refused(name, "is there twice, once as a link")
            path.symlink_to(target)

    def _path(self, name: str) -> Path:
        if name.startswith("/"):
            raise self._refused(name, "is an absolute path")
        if ".." in PurePosixPath(name).parts:
            raise self._refused(name, "leads out of its folder")
        return self.into / name

    def _folder(self, path: Path, name: str) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise self._refused(name, "needs a folder where it has a file") from None

    def _link(self, path: Path, entry: Entry) -> None:
        if entry.target.startswith("/") and self.drop_absolute_links:
            return
        if entry.target.startswith("/") or "\0" in entry.target or not entry.target:
            raise self._refused(entry.name, f"is a link out of its folder, to {entry.target}")
        if len(entry.target) >= _PATH:
            raise self._refused(entry.name, "is a link to a name that is too long for any file")
        if self.links.setdefault(path, entry.target) != entry.target:
            raise self._refused(entry.name, "is there twice, once as a link")

    def _file(self, path: Path, entry: Entry) -> None:
        if entry.mode & _SETUID:
            raise self._refused(entry.name, "would run with the rights of its owner (setuid or setgid)")
        self._folder(path.parent, entry.name)
        if path.is_dir():
            raise self._refused(entry.name, "needs a file where it has a folder")
        if entry.kind == "hard link":
            self._hard_link(path, entry)
        else:
            path.unlink(missing_ok=True)  # of files the last one counts; it must not write into a hard link
            self._write(path, entry)

    def _hard_link(self, path: Path, entry: Entry) -> None:
        target = self._path(entry.target)
        if not target.is_file():
            raise self._refused(entry.name, f"is a link to {entry.target}, which is no file before it")
        if target != path:
            path.unlink(missing_ok=True)
            os.link(target, path)

    def _write(self, path: Path, entry: Entry) -> None:
        assert entry.content is not None
        with path.open("xb") as file:
            shutil.copyfileobj(entry.content, file, 1 << 20)
            if file.tell() != entry.size:
                raise self._refused(entry.name, "is not as long as the archive says")
        path.chmod(0o755 if entry.mode & 0o100 else 0o644)
        os.utime(path, (entry.modified, entry.modified))  # a make that compares times must not find work

    def _refused(self, name: str, why: str) -> BuildError:
        return BuildError(f"{self.archive} is not unpacked: its entry {name!r} {why}")


def _strip(into: Path) -> None:
    top = list(into.iterdir())
    if len(top) == 1 and top[0].is_dir() and not top[0].is_symlink():
        aside = into.with_name(f".{into.name}~")
        top[0].rename(aside)
        into.rmdir()
        aside.rename(into)


def _check_links(archive: str, into: Path) -> None:
    """By the file system's own reading: a path that looks harmless may lead out through another link."""
    root = os.path.realpath(into)
    for link in _links(into):
        if os.path.commonpath((root, os.path.realpath(link))) != root:
            target = link.readlink()
            name = str(link.relative_to(into))
            raise BuildError(f"{archive} is not unpacked: its entry {name!r} is a link out of its folder, to {target}")


def _links(into: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(into):
        for name in (*folders, *files):
            if (path := Path(folder, name)).is_symlink():
                yield path
