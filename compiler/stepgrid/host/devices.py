"""Which block devices hold a folder: the disk of a partition, and the members of a RAID or a volume."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from stepgrid.host import sysfs
from stepgrid.host.stale_handles import retried


class Mount(NamedTuple):
    point: str
    number: str  # major:minor, as st_dev gives it
    filesystem: str
    source: str
    options: str


def mount(path: Path) -> Mount | None:
    """The mount that holds a path: the longest mount point above it, the last one mounted there."""
    where = existing(path).resolve()
    found: Mount | None = None
    for line in (sysfs.text("proc/self/mountinfo") or "").splitlines():
        entry = _mount(line)
        if where.is_relative_to(entry.point) and (found is None or len(entry.point) >= len(found.point)):
            found = entry
    return found


def existing(path: Path) -> Path:
    """The path or its nearest parent that is there."""
    path = path.absolute()
    while not retried(path.exists):
        path = path.parent
    return path


def device(path: Path, said: str | None = None) -> str | None:
    """The name of the whole device that holds a path: vda, nvme0n1, md2, dm-0; None for tmpfs and the like.

    `said`: what the site file says, where the path cannot tell.
    """
    if said is not None:
        return _disk(said)
    at = mount(path)
    if at is None:
        return None
    for number in (at.number, _number(at.source)):  # btrfs and others mount under a number of no device
        folder = sysfs.ROOT / "sys/dev/block" / number
        if folder.exists():
            return _whole(folder.resolve())
    return None


def members(name: str) -> list[str]:
    """The device itself, then everything below it."""
    below = [part for slave in sysfs.names(f"sys/class/block/{name}/slaves") for part in members(_disk(slave))]
    return list(dict.fromkeys([name, *below]))


def kind(name: str) -> str:
    """nvme, ssd, disk, virtual or unknown; of a RAID, what its members are when they agree."""
    parts = members(name)
    leaves = [part for part in parts if not sysfs.names(f"sys/class/block/{part}/slaves")]
    kinds = {_kind(leaf) for leaf in leaves}
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _kind(name: str) -> str:
    if name.startswith("nvme"):
        return "nvme"
    if name.startswith(("vd", "xvd", "zram", "loop", "ram", "nbd")):
        return "virtual"
    return {0: "ssd", 1: "disk"}.get(_rotational(name), "unknown")


def _rotational(name: str) -> int:
    value = sysfs.number(f"sys/class/block/{name}/queue/rotational")
    return -1 if value is None else value


def _disk(name: str) -> str:
    return _whole((sysfs.ROOT / "sys/class/block" / name).resolve())


def _whole(folder: Path) -> str:
    return folder.parent.name if (folder / "partition").exists() else folder.name


def _number(source: str) -> str:
    try:
        number = Path(source).stat().st_rdev
    except OSError:
        return "none"
    return f"{os.major(number)}:{os.minor(number)}"


def _mount(line: str) -> Mount:
    left, _, right = line.partition(" - ")
    mounted, what = left.split(), right.split()
    point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), mounted[4])  # a blank is written \040
    return Mount(point, mounted[2], what[0], what[1], mounted[5])
