"""Files: reading many small ones fast, writes that survive a power cut, trees, and stale handles of shared disks."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from stepgrid.model.records import Record, parse_record, plain

T = TypeVar("T")
R = TypeVar("R")
IRREGULAR = (errno.ELOOP, errno.EINVAL, errno.ENXIO)  # of `open_regular`: a link, a pipe or device, a socket
BLOCK = 2**16  # bytes that are read at once

FICLONE = 0x40049409  # ioctl: share the blocks of a file, where the file system can


def read_bytes(path: Path | str, most: int | None = None) -> bytes:
    """Read a file in half of open's time: a collect reads tens of thousands. `most`: bytes of its beginning."""
    return retry_stale(lambda: _read_bytes(path, most))


def _read_bytes(path: Path | str, most: int | None) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe is empty, and not waited for
    try:
        if stat.S_ISCHR(os.fstat(file).st_mode):  # a device may have no end
            return b""
        parts, remaining = list[bytes](), most
        while part := os.read(file, BLOCK if remaining is None else min(remaining, BLOCK)):
            parts.append(part)
            remaining = None if remaining is None else remaining - len(part)
        return b"".join(parts)
    finally:
        os.close(file)


def open_regular(path: Path | str) -> int:
    """Open a file below a step's folder: its program may have put a link, a pipe or a socket there."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return file
    os.close(file)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def sha256(path: Path | str) -> str:
    """Hash a file, in hexadecimal digits; a large file is never in memory as a whole."""
    import hashlib

    def digest() -> str:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    return retry_stale(digest)


# JSON. A file that is damaged says nothing, or is refused by a ValueError.


def read_json(path: Path | str) -> dict[str, Any]:
    """Read a JSON object; empty when it is missing, or none."""
    return read_record(path, dict)


def load_record(path: Path | str, kind: type[R]) -> R:
    """Read a record. OSError; ValueError where it is damaged, or of another kind."""
    return parse_record(read_bytes(path), kind)


def read_record(path: Path | str, kind: type[R]) -> R:
    """Read a record; an empty one where it is missing or damaged."""
    try:
        return load_record(path, kind)
    except (OSError, ValueError):
        return kind()


def find_record(path: Path | str, kind: type[R]) -> R | None:
    """Read a record; None where it is missing or damaged."""
    try:
        return load_record(path, kind)
    except (OSError, ValueError):
        return None


def json_records(lines: Iterable[str], key: str) -> Iterator[dict[str, Any]]:
    """List the objects with this key, one a line, of a file that may still be written or whose writer died."""
    for line in lines:
        try:
            record = parse_record(line, dict)
        except ValueError:
            continue
        if key in record:
            yield record


# Writes that survive a power cut: content first, then the name.


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write to, which then takes the file's place: a reader sees the old or the new content."""
    with _claimed(path) as new:
        yield new
        sync(new)
        os.replace(new, path)
    sync(path.parent)


@contextmanager
def _claimed(path: Path) -> Iterator[Path]:
    """Make a file of ours: a link that somebody else put there would have us write where it leads."""
    sweep_temporary(path.parent, path.name)
    new = path.with_name(f".{path.name}.{temporary_suffix()}")
    new.unlink(missing_ok=True)
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    try:
        yield new
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")


def write_cache(path: Path, content: str | bytes) -> None:
    """Write all or nothing; after a power cut it may be lost or empty."""
    with _claimed(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(new, path)


def write_json(path: Path, value: Record | Mapping[str, object], durable: bool = True) -> None:
    """Write a record. Not durable: in a folder that is synced as a whole before it is published."""
    (write_text if durable else write_cache)(path, json.dumps(plain(value), indent=1) + "\n")


def make_folder(path: Path) -> None:
    """Make a folder and those above it; each new name survives a power cut."""
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in new:
        sync(folder.parent)


def sync(path: Path) -> None:
    """Write out a file's content, or a folder's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                sync(path)
        sync(Path(parent))


def remove_tree(folder: Path, until: float | None = None) -> bool:
    """Remove a folder; stop when time.monotonic() has passed `until`, and tell whether it got everything."""
    for parent, folders, names in os.walk(folder, topdown=False):
        for name in names:
            Path(parent, name).unlink(missing_ok=True)
            if until is not None and time.monotonic() > until:
                return False
        for path in (Path(parent, name) for name in folders):
            with suppress(FileNotFoundError):
                if path.is_symlink():
                    path.unlink()
                else:
                    path.rmdir()
    with suppress(FileNotFoundError):
        folder.rmdir()
    return not folder.exists()


# Temporary files, which killed processes were about to publish, have names that begin with a dot and end in the process
# and its host. Processes of other hosts, whose folder it is too, cannot be looked at: their files go after a day.

_TEMPORARY = re.compile(r"\.(.+)\.(\d+)(?:@([0-9a-f]{8}))?(~|\.json)?", re.ASCII)
_DAY = 86400.0


def temporary_suffix() -> str:
    """End the name of a temporary file of this process."""
    return f"{os.getpid()}@{_host()}"


@cache
def _host() -> str:
    """Hash the host with the namespace that its processes are numbered in: containers may share a folder and a name."""
    import hashlib

    try:
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - a name, no path
    except OSError:
        namespace = ""
    return hashlib.sha256(f"{platform.node()} {namespace}".encode()).hexdigest()[:8]


def sweep_temporary(folder: Path, name: str | None = None) -> None:
    """Remove what dead processes left in a folder; `name`: only what was to become that file, in anybody's folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [entry for entry in entries if entry.name.startswith(".")]:
            match = _TEMPORARY.fullmatch(entry.name)
            # in a folder of a user `.notes.txt.2024` may be a copy of a day: of ours only names with a host are sure
            is_meant = match and (name is None or (name == match[1] and match[3]))
            if match and is_meant and _is_abandoned(entry, match[2], match[3]):
                _remove_entry(entry)


def sweep_below(folder: Path) -> None:
    """Sweep a folder and all within it."""
    for parent, _, _ in os.walk(folder):
        sweep_temporary(Path(parent))


def has_dead_owner(suffix: str) -> bool:
    """Tell whether a name with the `temporary_suffix()` of a process of this host outlived it."""
    process, _, host = suffix.partition("@")
    return host == _host() and process.isdecimal() and not _is_alive(process)


def _is_abandoned(entry: os.DirEntry[str], process: str, host: str | None) -> bool:
    """Names without a host are of before they had one."""
    if host in (None, _host()):
        return not _is_alive(process)
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > _DAY


def _is_alive(process: str) -> bool:
    """A killed process keeps its number until it is waited for: in some containers nobody ever does."""
    try:
        status = Path("/proc", process, "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return not any(line.startswith("State:\tZ") for line in status.splitlines())


def _remove_entry(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        import shutil

        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(entry.path)  # noqa: PTH108 - an entry is no Path


# A database's folder: the list that an image is verified by.


class Tree(Struct, frozen=True):
    folders: tuple[str, ...]  # parents before children
    files: Mapping[str, int]  # relative path -> bytes
    links: Mapping[str, str]  # relative path -> target of the symlink

    @property
    def bytes(self) -> int:
        return sum(self.files.values())

    def difference(self, other: Tree) -> str | None:
        """Say the first thing by which another tree differs from this one."""
        for name in sorted({*self.files, *other.files}):
            size, other_size = (tree.files.get(name) for tree in (self, other))
            if size != other_size:
                return f"{name}: {_format_bytes(size)} expected, {_format_bytes(other_size)} found"
        if (set(self.folders), dict(self.links)) != (set(other.folders), dict(other.links)):
            return "its folders or symbolic links are not those of the list"
        return None


def scan(root: Path) -> Tree:
    """List a tree. Sockets, pipes and the like are left out: they belong to a process, not to a state."""
    folders: list[str] = []
    files: dict[str, int] = {}
    links: dict[str, str] = {}
    for name, entry in sorted(_walk(root, "")):
        mode = entry.st_mode
        if stat.S_ISDIR(mode):
            folders.append(name)
        elif stat.S_ISREG(mode):
            files[name] = entry.st_size
        elif stat.S_ISLNK(mode):
            links[name] = str((root / name).readlink())
    return Tree(tuple(folders), files, links)


def modification_times(root: Path, tree: Tree) -> dict[str, int]:
    """Read when each file was written last, in nanoseconds."""
    return {name: (root / name).lstat().st_mtime_ns for name in tree.files}


def tree_size(root: Path) -> int:
    """Sum the bytes of the regular files, while they may come and go."""
    return sum(entry.st_size for _, entry in _walk(root, "") if stat.S_ISREG(entry.st_mode))


def _walk(root: Path, below: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        entries = list(os.scandir(root / below))
    except OSError:
        return
    for entry in entries:
        name = f"{below}/{entry.name}" if below else entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # removed meanwhile by a running database
            continue
        yield name, status
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(root, name)


def _format_bytes(size: int | None) -> str:
    return "no such file" if size is None else f"{size} bytes"


# Stale file handles of a shared disk: another machine replaced what was open, or the file server restarted.

TRIES = 3
STALE_HINT = "another machine replaced it, or its file server restarted: run the same command again"


def is_stale(error: BaseException) -> bool:
    """Recognize a stale handle; DuckDB's error is no OSError."""
    return error.errno == errno.ESTALE if isinstance(error, OSError) else os.strerror(errno.ESTALE) in str(error)


def retry_stale(look: Callable[[], T]) -> T:
    """Look again: `look` opens by path, so that NFS asks the server for a new handle."""
    for _ in range(TRIES - 1):
        try:
            return look()
        except Exception as error:
            if not is_stale(error):
                raise
    return look()
