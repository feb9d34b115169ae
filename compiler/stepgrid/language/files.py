"""Files that a spec names: bounded reads, checksums, shared libraries, and a record of what a compilation read.

A plan in the cache holds for as long as everything in the record stays as it was.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

MOST_BYTES = 1 << 20
LARGEST_INPUT = 1 << 40  # bytes: a checksum of this takes most of an hour, and a sparse file says more than it holds
SETTLED = 100_000_000  # ns: a later change may be followed by another one within a tick of the file system's clock
_VIRTUAL = ("/proc/", "/sys/")  # made up by the kernel while they are read: some have no end, or block


class NotRegularError(OSError):
    """A folder, a pipe or a device where a file is expected: a pipe would block, and a device has no end."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.strerror = f"it is {kind}"


class TooLargeError(OSError):
    """A file that nobody would wait for."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.strerror = f"it is larger than {limit}"


def holds_data(path: str) -> bool:
    """Decide if this is a file on a disk or in memory, wherever links lead."""
    return os.path.isfile(path) and not os.path.realpath(path).startswith(_VIRTUAL)  # noqa: PTH113 - a text may hold NUL


def open_regular(path: Path | str) -> BufferedReader:
    """Open a file that a spec or a command names: reading it waits for nobody."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    is_virtual = os.readlink(f"/proc/self/fd/{descriptor}").startswith(_VIRTUAL)  # noqa: PTH115 - for each file of a tree
    if stat.S_ISREG(status.st_mode) and not is_virtual:
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError("a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device")
    raise NotRegularError("a file of the kernel")


def head(path: str, most: int = MOST_BYTES) -> bytes:
    """Read a regular file up to one byte more than the bound, which tells that it is larger."""
    with open_regular(path) as file:
        return file.read(most + 1)


def file_checksum(path: Path | str) -> str:
    """Compute the checksum of one file; a large one is never in memory as a whole."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > LARGEST_INPUT:
            raise TooLargeError("1 TiB")
        return hashlib.file_digest(file, "sha256").hexdigest()


class TreeRecord(NamedTuple):
    """A local tree as a compilation read it."""

    path: str
    files: tuple[str, ...]  # that were chosen of it; none: all
    mark: str
    pin: str


class InputRecord(NamedTuple):
    """Everything that a compilation read; a mark is cheap to compare."""

    files: dict[str, str | None]  # path -> digest of the content; None = no such file
    programs: dict[str, str]  # name -> pin
    trees: list[TreeRecord]
    inputs: dict[str, tuple[str, str]]  # path -> mark, checksum


_record: ContextVar[InputRecord | None] = ContextVar("record", default=None)


@contextmanager
def record_inputs() -> Iterator[InputRecord]:
    record = InputRecord({}, {}, [], {})
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)


def record_file(path: str, content: bytes | None) -> None:
    """Record the content as it was read, not as it may be by now."""
    if (record := _record.get()) is not None:
        record.files[path] = None if content is None else digest(content)


def record_program(name: str, pin: str) -> None:
    if (record := _record.get()) is not None:
        record.programs[name] = pin


def record_tree(tree: TreeRecord) -> None:
    if (record := _record.get()) is not None:
        record.trees.append(tree)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


Checksums = Mapping[str, tuple[str, str]]  # path -> mark, checksum

_checksums: ContextVar[Checksums | None] = ContextVar("checksums", default=None)


@contextmanager
def reuse_checksums(checksums: Checksums) -> Iterator[None]:
    """Read no file again whose mark is the same as when its checksum was computed."""
    token = _checksums.set(checksums)
    try:
        yield
    finally:
        _checksums.reset(token)


def checksum(path: str) -> str:
    """Compute the checksum of a file or a folder; OSError if a part of it cannot be read."""
    mark = _mark(path)  # before it is read, so that a change meanwhile is noticed
    earlier = (_checksums.get() or {}).get(os.path.abspath(path))  # noqa: PTH100 - a link keeps its name
    value = earlier[1] if earlier and mark and earlier[0] == mark else _read(path)
    if (record := _record.get()) is not None:
        record.inputs[path] = (mark, value)
    return value


def is_unchanged(path: str, mark: str, value: str) -> bool:
    """Compare with an earlier checksum; nothing is read if the mark is the same."""
    try:
        return bool(mark and _mark(path) == mark) or _read(path) == value
    except OSError:
        return False


def _mark(path: str) -> str:
    """Empty after a change just now: a later one within a tick of the file system's clock would not show."""
    status, now = Path(path).stat(), time.time_ns()
    if stat.S_ISDIR(status.st_mode):
        return tree_mark(Path(path), now)
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    facts = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, facts)) if changed < now - SETTLED else ""


def _read(path: str) -> str:
    if Path(path).is_dir():
        return tree_checksum(Path(path))
    return file_checksum(path)


def tree_checksum(root: Path, files: Mapping[str, Path] | None = None) -> str:
    """Compute one checksum of files, executable bits and links; `.git`, times and owners do not count.

    It is the same for every copy of the tree. `files`: only these, by name. OSError if a part cannot be read."""
    checksum = hashlib.sha256()
    for name, path, status in _entries(root, files):
        is_link = stat.S_ISLNK(status.st_mode)
        # as in git: other bits of the mode depend on who made the copy
        kind = "link" if is_link else "program" if status.st_mode & stat.S_IXUSR else "file"
        checksum.update(f"{name}\0{kind}\0".encode(errors="surrogateescape"))
        if is_link:
            checksum.update(hashlib.sha256(os.fsencode(path.readlink())).digest())
        else:
            checksum.update(bytes.fromhex(file_checksum(path)))
    return checksum.hexdigest()


def tree_mark(root: Path, now: int, files: Mapping[str, Path] | None = None) -> str:
    """Compute a mark of an unchanged tree without reading a file; empty if it changed too recently."""
    mark, newest = hashlib.sha256(), 0
    for name, _, status in _entries(root, files):
        newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
        facts = (status.st_mode, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        mark.update(f"{name}\0{facts}\n".encode(errors="surrogateescape"))
    return mark.hexdigest() if newest < now - SETTLED else ""


def tree_links(root: Path) -> list[str]:
    """List links by their names below the root."""
    return [name for name, _, status in _entries(root) if stat.S_ISLNK(status.st_mode)]


def _entries(root: Path, files: Mapping[str, Path] | None = None) -> list[tuple[str, Path, os.stat_result]]:
    """List files and links by their names below the root."""
    if files is None:
        entries = [(name, root / name, status) for name, status in _scan(str(root), "")]
    else:
        entries = [(name, path, path.lstat()) for name, path in files.items()]
    return sorted(entries, key=lambda entry: os.fsencode(entry[0]))


def _scan(folder: str, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    for entry in os.scandir(folder):
        if entry.name == ".git":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _scan(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            yield f"{prefix}{entry.name}", entry.stat(follow_symlinks=False)


_DYNAMIC, _LOAD = 2, 1  # PT_DYNAMIC, PT_LOAD
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29  # DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH
_CONFIGURATION = Path("/etc/ld.so.conf")
_DEFAULTS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


class _Object(NamedTuple):
    """An ELF file: the libraries that it needs, and where it looks first."""

    needed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def shared_libraries(program: str, folders: tuple[str, ...] = ()) -> Mapping[str, str]:
    """Find libraries of a program, of its plug-ins, and of what those need in turn: name -> path.

    Files are read and nothing is run: ldd would start the loader on the program. Plug-ins that it loads while it runs
    count as well: Python's `_sqlite3` lies below lib/python3.11, beside bin/python3.11.
    `folders`: those of LD_LIBRARY_PATH.
    """
    real = Path(os.path.realpath(program))
    start = _read_object(real)
    if start is None:
        return {}
    folder = real.parent.parent / "lib" / real.name
    paths = {plugin.name: str(plugin) for pattern in ("*.so", "*/*.so") for plugin in sorted(folder.glob(pattern))}
    queue = [(real, start), *((Path(path), _read_object(Path(path)) or _Object()) for path in paths.values())]
    while queue:
        path, item = queue.pop()
        for name in item.needed:
            if name not in paths and (library := _find(name, path.parent, (*item.folders, *start.folders, *folders))):
                paths[name] = str(library)
                queue.append((library, _read_object(library) or _Object()))
    return dict(sorted(paths.items()))


def _find(name: str, origin: Path, folders: tuple[str, ...]) -> Path | None:
    relative = [folder.replace("$ORIGIN", str(origin)).replace("${ORIGIN}", str(origin)) for folder in folders]
    searched = (*relative, *_configured(_CONFIGURATION), *_DEFAULTS)
    paths = (Path(folder, name) for folder in searched)
    return next((path for path in paths if path.is_file()), None)


@lru_cache(maxsize=64)
def _configured(file: Path) -> tuple[str, ...]:
    """List the folders of /etc/ld.so.conf and of the files that it includes."""
    try:
        lines = [line.partition("#")[0].split() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError):
        return ()
    folders: list[str] = []
    for words in lines:
        if words[:1] == ["include"]:
            for pattern in words[1:]:
                base = Path("/") if pattern.startswith("/") else file.parent
                included = sorted(base.glob(pattern.lstrip("/")))
                folders += [folder for entry in included for folder in _configured(entry)]
        else:
            folders += words
    return tuple(folders)


def _read_object(path: Path) -> _Object | None:
    """Read an ELF file; None if it is none, of 64 bits and this byte order."""
    try:
        with open_regular(path) as file:
            if file.read(6) != b"\x7fELF\x02\x01":
                return None
            return _dynamic(file.fileno())
    except (OSError, struct.error, ValueError):
        return None


def _dynamic(file: int) -> _Object:
    header = os.pread(file, 64, 0)
    (table,), (size, count) = struct.unpack_from("<Q", header, 32), struct.unpack_from("<HH", header, 54)
    rows = [struct.unpack_from("<IIQQQQ", os.pread(file, size, table + size * index)) for index in range(count)]
    entries = [
        pair
        for kind, _, offset, _, _, length in rows
        if kind == _DYNAMIC
        for pair in struct.iter_unpack("<QQ", os.pread(file, length // 16 * 16, offset))
    ]
    address = next((value for tag, value in entries if tag == _STRINGS), None)
    if address is None:  # a static program
        return _Object()
    segments = [(start, offset, length) for kind, _, offset, start, _, length in rows if kind == _LOAD]
    strings = next(offset + address - start for start, offset, length in segments if start <= address < start + length)

    def text(value: int) -> str:
        return os.pread(file, 4096, strings + value).partition(b"\0")[0].decode()

    needed = tuple(text(value) for tag, value in entries if tag == _NEEDED)
    folders = [folder for tag, value in entries if tag in (_RPATH, _RUNPATH) for folder in text(value).split(":")]
    return _Object(needed, tuple(folder for folder in folders if folder))
