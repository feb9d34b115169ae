"""Disks: which block devices hold a folder, a disk that is full or read-only, and one whose power can be cut."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from stepgrid.host import sysfs
from stepgrid.host.failure import DISK_FULL, StageError, last_bytes
from stepgrid.host.files import retry_stale
from stepgrid.model.units import size


class Mount(NamedTuple):
    point: str
    number: str  # major:minor, as st_dev gives it
    filesystem: str
    source: str
    options: str


def mount(path: Path) -> Mount | None:
    """Find the mount that holds a path: the longest mount point above it, the last one mounted there."""
    folder = existing(path).resolve()
    longest: Mount | None = None
    for line in (sysfs.text("proc/self/mountinfo") or "").splitlines():
        entry = _parse_mount(line)
        if folder.is_relative_to(entry.point) and (longest is None or len(entry.point) >= len(longest.point)):
            longest = entry
    return longest


def existing(path: Path) -> Path:
    """Return the path or its nearest parent that exists."""
    path = path.absolute()
    while not retry_stale(path.exists):
        path = path.parent
    return path


def device(path: Path, site_device: str | None = None) -> str | None:
    """Name the whole device that holds a path: vda, nvme0n1, md2, dm-0; None for tmpfs and the like.

    `site_device`: that of the site file, where the path cannot tell.
    """
    if site_device is not None:
        return _disk(site_device)
    entry = mount(path)
    if entry is None:
        return None
    for number in (entry.number, _device_number(entry.source)):  # btrfs and others mount under a number of no device
        folder = sysfs.ROOT / "sys/dev/block" / number
        if folder.exists():
            return _whole_device(folder.resolve())
    return None


def members(name: str) -> list[str]:
    """List the device itself, then everything below it."""
    below = [part for slave in sysfs.names(f"sys/class/block/{name}/slaves") for part in members(_disk(slave))]
    return list(dict.fromkeys([name, *below]))


def kind(name: str) -> str:
    """Tell nvme, ssd, disk, virtual or unknown; of a RAID, the kind of its members when they agree."""
    leaves = [part for part in members(name) if not sysfs.names(f"sys/class/block/{part}/slaves")]
    kinds = {_leaf_kind(leaf) for leaf in leaves}
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _leaf_kind(name: str) -> str:
    if name.startswith("nvme"):
        return "nvme"
    if name.startswith(("vd", "xvd", "zram", "loop", "ram", "nbd")):
        return "virtual"
    rotational = sysfs.number(f"sys/class/block/{name}/queue/rotational")
    return "unknown" if rotational is None else {0: "ssd", 1: "disk"}.get(rotational, "unknown")


def _disk(name: str) -> str:
    return _whole_device((sysfs.ROOT / "sys/class/block" / name).resolve())


def _whole_device(folder: Path) -> str:
    return folder.parent.name if (folder / "partition").exists() else folder.name


def _device_number(source: str) -> str:
    try:
        number = Path(source).stat().st_rdev
    except OSError:
        return "none"
    return f"{os.major(number)}:{os.minor(number)}"


def _parse_mount(line: str) -> Mount:
    mount_fields, _, filesystem_fields = line.partition(" - ")
    (_, _, number, _, escaped, options, *_), (filesystem, source, *_) = mount_fields.split(), filesystem_fields.split()
    point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), escaped)  # a blank is written \040
    return Mount(point, number, filesystem, source, options)


# A disk that is full or read-only: how it is recognized, and the sentence for it.

NEARLY_NOTHING = 1 << 18  # bytes free that count as none
FEW_INODES = 8
PROBE = ".writable"


def met_full_disk(folder: Path, data: Path, logs: Iterable[str] = ()) -> bool:
    """Tell whether the engine says so, or could not even say it: its log is on a disk as well.

    `logs`: its own files in the folder. Where an assertion stops it, it has told them alone, and has room again.
    """
    is_logged = any(DISK_FULL in last_bytes(folder / name) for name in ("stderr", "stdout", *logs))
    return is_logged or has_no_room(folder, data)


def has_no_room(*paths: Path) -> bool:
    """Tell whether one of the disks is full."""
    return any(_free(path) < NEARLY_NOTHING or _lacks_inodes(path) for path in paths)


def read_only(*folders: Path) -> str | None:
    """Say that a file system was made read-only: it is tried, since one in trouble does not say so of itself."""
    for folder in folders:
        try:
            (folder / PROBE).touch()
            (folder / PROBE).unlink()
        except OSError as error:
            if error.errno == errno.EROFS:
                return f"the disk of {folder} is read-only now: see the kernel's log (dmesg)"
    return None


def is_disk_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def disk_full(*paths: Path, hint: str = "free some, load less, or use another disk") -> str:
    """Describe the disk that has the least free. Ask before anything is removed: that is what the failed write saw."""
    path = next(filter(_is_short_of_inodes, paths), min(paths, key=_free))
    status = os.statvfs(existing(path))
    if _is_short_of_inodes(path):
        inodes = f"{status.f_favail} of its {status.f_files} inodes are free (files and folders)"
        return f"the disk of {path} is full: {inodes}; remove some, or use another disk"
    free, total = status.f_bavail * status.f_frsize, status.f_blocks * status.f_frsize
    return f"the disk of {path} is full: {size(free)} of {size(total)} free; {hint}"


def _lacks_inodes(path: Path) -> bool:
    status = os.statvfs(existing(path))
    # no number at all: the file system makes them as they are needed
    return status.f_files > 0 and status.f_favail == 0


def _is_short_of_inodes(path: Path) -> bool:
    """Count a few as none: the program that failed may have removed some files as it ended."""
    status = os.statvfs(existing(path))
    short = status.f_files > 0 and status.f_favail < FEW_INODES and _free(path) > NEARLY_NOTHING
    return short or _lacks_inodes(path)


def _free(path: Path) -> int:
    status = os.statvfs(existing(path))
    return status.f_bavail * status.f_frsize


# A disk whose power can be cut: ext4 in a file. The kernel ends the file system at once, without its page cache and its
# journal; mounted again, it has what was synced, and what the kernel had written by itself (after 30 s by default).

IMAGE, POINT = "disk.ext4", "disk"  # beside each other
FORMAT = ("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1")
MOUNT = ("mount", "-t", "ext4", "-o", "loop,noinit_itable")
TOOLS = {"mkfs.ext4": "e2fsprogs", "mount": "mount", "umount": "mount"}  # with the packages that have them
SYS_ADMIN = 21  # the number of a capability
NEW_MOUNTS = 0x20000  # CLONE_NEWNS
SHUTDOWN, NO_FLUSH = 0x8004587D, 2  # FS_IOC_SHUTDOWN
LOOP_STATUS, LOOP_STATUS_SIZE = 0x4C05, 232  # LOOP_GET_STATUS64: it begins with the device and inode of the file
PATIENCE = 60.0  # seconds for those that look at the disk's files


def missing_for_power_cut() -> str:
    """Say what this host lacks for such a disk; empty where it can have one."""
    capabilities = re.search(r"^CapEff:\s*(\w+)", sysfs.text("proc/self/status") or "", re.MULTILINE)
    if not (capabilities and int(capabilities[1], 16) >> SYS_ADMIN & 1):
        return "it needs root"
    if not (sysfs.ROOT / "dev/loop-control").exists():
        return "there is no /dev/loop-control, for a file system in a file"
    return next((f"there is no {tool}, install {TOOLS[tool]}" for tool in TOOLS if not shutil.which(tool)), "")


@contextmanager
def power_disk(data: Path) -> Iterator[Path]:
    """Put such a disk beside the path of a database; yield the database's path on it.

    Only this process and those that it starts see the mount, so it ends with them."""
    if reason := missing_for_power_cut():
        raise StageError(f"the power of a disk cannot be cut on this host: {reason}")
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "unshare")
    _run("mount", "--make-rprivate", "/")
    image, point = data.with_name(IMAGE), data.with_name(POINT)
    with image.open("xb") as file:
        file.truncate(_free(data))
    _run(*FORMAT, str(image))
    point.mkdir()
    _run(*MOUNT, str(image), str(point))
    try:
        yield point / data.name
        os.close(_open_disk(point))
    finally:
        _refusal("umount", "--lazy", str(point))


def cut_power(data: Path) -> None:
    """Lose what was not synced of a database on such a disk. Its engine has ended."""
    point = data.parent
    folder = _open_disk(point)
    try:
        fcntl.ioctl(folder, SHUTDOWN, struct.pack("I", NO_FLUSH))
    finally:
        os.close(folder)
    end = time.monotonic() + PATIENCE
    while (reason := _refusal("umount", str(point))) and time.monotonic() < end:
        time.sleep(0.01)
    if reason:
        raise StageError(reason)
    _run(*MOUNT, str(point.with_name(IMAGE)), str(point))


def _open_disk(point: Path) -> int:
    """Open the disk, and refuse any other file system: below a disk that a program unmounted lies that of outputs/."""
    folder = os.open(point, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        image = point.with_name(IMAGE).lstat()
        if _backing_file(os.fstat(folder).st_dev) != (image.st_dev, image.st_ino):
            raise StageError(
                f"the disk whose power is to be cut is not mounted at {point} any more: a program of the stage "
                "unmounted it, or mounted another one; the file system that is there was left alone"
            )
    except BaseException:
        os.close(folder)
        raise
    return folder


def _backing_file(number: int) -> tuple[int, int] | None:
    """Ask the kernel for the file behind a loop device: its device and inode; None for other devices."""
    uevent = sysfs.text(f"sys/dev/block/{os.major(number)}:{os.minor(number)}/uevent") or ""
    name = re.search(r"^DEVNAME=(loop\d+)$", uevent, re.MULTILINE)
    if name is None:
        return None
    with suppress(OSError), open(f"/dev/{name[1]}", "rb", buffering=0) as loop:  # noqa: PTH123 - beside an ioctl
        if os.fstat(loop.fileno()).st_rdev == number:
            device, inode = struct.unpack_from("QQ", fcntl.ioctl(loop, LOOP_STATUS, bytes(LOOP_STATUS_SIZE)))
            return device, inode
    return None


def _run(*argv: str) -> None:
    if reason := _refusal(*argv):
        raise StageError(reason)


def _refusal(*argv: str) -> str:
    import subprocess

    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    return f"{argv[0]} failed: {result.stderr.strip()}" if result.returncode else ""
