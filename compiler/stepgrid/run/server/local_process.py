"""The process of a server that already runs, where it is one of this machine's: its CPU and memory can be sampled."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path

from stepgrid.plugins.server import Access

_SECONDS = 5.0
LOCAL, STATE, INODE, LISTENING = 1, 3, 9, "0A"  # of a line in /proc/PID/net/tcp
_CREDENTIALS = struct.Struct("3i")  # of who listens: pid, user, group


def process(access: Access, said: int | None) -> int | None:
    """`said`: the pid that the server tells, of its own machine. None where it cannot be told for sure."""
    if access.host:
        return _listening(said, access.port) if said is not None and is_here(access.host, access.port) else None
    try:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(_SECONDS)
            client.connect(str(access.socket))
            told = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return None
    pid = int(_CREDENTIALS.unpack(told)[0])
    return pid if pid > 1 and Path(f"/proc/{pid}/stat").exists() else None  # 0: out of sight; 1: it only passed it on


def is_here(host: str, port: int) -> bool:
    """Whether what is sent there comes from that address as well. Nothing is sent."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with closing(socket.socket(family, kind, protocol)) as probe:
            probe.connect(address)
            return ip_address(address[0]).is_loopback or bool(probe.getsockname()[0] == address[0])
    except (OSError, ValueError):
        return False


def _listening(pid: int, port: int) -> int | None:
    """This process or its parent, whichever listens there: of others' processes only root can tell."""
    return next((each for each in (pid, _parent(pid)) if each and _listens(each, port)), None)


def _listens(pid: int, port: int) -> bool:
    sockets = {f"socket:[{inode}]" for inode in _inodes(pid, port)}
    try:
        return any(str(entry.readlink()) in sockets for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def _inodes(pid: int, port: int) -> Iterator[str]:
    """Of the sockets that listen on this port, in the network that the process sees."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{name}").read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[STATE] == LISTENING and int(fields[LOCAL].rpartition(":")[2], 16) == port:
                    yield fields[INODE]


def _parent(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[1])
    return 0
