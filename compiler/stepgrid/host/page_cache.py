"""The page cache of a database: measured, dropped or filled, without root."""

from __future__ import annotations

import ctypes
import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from stepgrid.host import sysfs
from stepgrid.host.files import scan
from stepgrid.model.records import Json

CHUNK = 1 << 24
COLD, WARM = "cold", "warm"
EASY_SHARE = 0.25  # of the memory that is available
_RESIDENT = bytes(value & 1 for value in range(256))  # of what mincore(2) says of a page, only this bit is defined

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
_WRITE_AND_WAIT = 1 | 2 | 4  # SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER of the kernel's fs.h


def set_up(data: Path, start: Any, restored: bool = False) -> dict[str, Json]:
    """Prepare the cache before the first step; the record has the request and what the cache held then.

    A restored database is read where nothing is asked for and it fits easily: so it begins as its load left it,
    whatever the kernel has taken out of memory since.
    """
    before = residency(data)
    size, resident = before["bytes"] or 0, before["resident"]
    has_lost_pages = resident is not None and resident < size <= EASY_SHARE * (sysfs.memory("MemAvailable") or 0)
    way = WARM if start is None and restored and has_lost_pages else str(start)
    if way not in (COLD, WARM):
        return {"start": None, **before}
    for name in scan(data).files:
        descriptor = os.open(data / name, os.O_RDONLY)
        try:
            if way == COLD:
                os.fsync(descriptor)  # dirty pages stay
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            else:
                while os.read(descriptor, CHUNK):
                    pass
        finally:
            os.close(descriptor)
    return {"start": start, **residency(data), "before": before}


def write_back(data: Path) -> None:
    """Write dirty pages of a database's files, and wait for that.

    No fsync: it flushes the device's cache and commits the file system's journal for each file, and waits there for
    what others have written."""
    for name in scan(data).files:
        with suppress(OSError):  # the engine removes files meanwhile, and some may be its user's alone
            descriptor = os.open(data / name, os.O_RDONLY)
            try:
                _libc.sync_file_range(descriptor, 0, 0, _WRITE_AND_WAIT)
            finally:
                os.close(descriptor)


def residency(data: Path) -> dict[str, int | None]:
    """Count the files, their bytes and how many of these are in memory; None where the kernel does not say."""
    files = scan(data).files
    counts = [resident_bytes(data / name) for name in files]
    total = sum(count or 0 for count in counts)
    return {"files": len(files), "bytes": sum(files.values()), "resident": None if None in counts else total}


def resident_bytes(path: Path) -> int | None:
    """Count the bytes of a file's pages that are in memory, by mincore(2)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        return _mincore(descriptor, size) if size else 0
    finally:
        os.close(descriptor)


def _mincore(descriptor: int, size: int) -> int | None:
    address = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        return None
    pages = (ctypes.c_ubyte * (-(-size // mmap.PAGESIZE)))()
    try:
        if _libc.mincore(address, size, pages):
            return None
        return min(bytes(pages).translate(_RESIDENT).count(1) * mmap.PAGESIZE, size)
    finally:
        _libc.munmap(address, size)
