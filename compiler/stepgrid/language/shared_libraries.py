"""Shared libraries of a program on this machine, as the loader finds them. Files are read and nothing is run.

ldd would start the loader on it. Plug-ins that a program loads while it runs count as well: Python's `_sqlite3` lies
below lib/python3.11, beside bin/python3.11.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_DYNAMIC, _LOAD = 2, 1  # PT_DYNAMIC, PT_LOAD
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29  # DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH
_CONFIGURATION = Path("/etc/ld.so.conf")
_DEFAULTS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


class _Object(NamedTuple):
    needed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # where it looks first


@lru_cache(maxsize=64)
def libraries(program: str) -> Mapping[str, str]:
    """Find libraries of the program, of its plug-ins, and of what those need in turn: name -> path."""
    real = Path(os.path.realpath(program))
    start = _read(real)
    if start is None:
        return {}
    folder = real.parent.parent / "lib" / real.name
    paths = {plugin.name: str(plugin) for pattern in ("*.so", "*/*.so") for plugin in sorted(folder.glob(pattern))}
    queue = [(real, start), *((Path(path), _read(Path(path)) or _Object()) for path in paths.values())]
    while queue:
        path, item = queue.pop()
        for name in item.needed:
            if name not in paths and (library := _find(name, path.parent, (*item.folders, *start.folders))):
                paths[name] = str(library)
                queue.append((library, _read(library) or _Object()))
    return dict(sorted(paths.items()))


def _find(name: str, origin: Path, folders: tuple[str, ...]) -> Path | None:
    relative = [folder.replace("$ORIGIN", str(origin)).replace("${ORIGIN}", str(origin)) for folder in folders]
    environment = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    paths = (Path(folder, name) for folder in (*relative, *environment, *_configured(_CONFIGURATION), *_DEFAULTS))
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


def _read(path: Path) -> _Object | None:
    """Read an ELF file; None when it is none, of 64 bits and this byte order."""
    try:
        with path.open("rb") as file:
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
