"""Two network namespaces joined by a program that delays each packet: `python slow_network.py PID PID SECONDS`.

Each process is in a namespace of its own; the first one has the address 10.77.0.1 then, the second one 10.77.0.2.
"""

import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000


def tunnel(pid, address):
    with Path(f"/proc/{pid}/ns/net").open(encoding="utf-8") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"slow0", IFF_TUN | IFF_NO_PI))
    for words in ("link set lo up", f"addr add {address}/24 dev slow0", "link set slow0 up"):
        subprocess.run(["ip", *words.split()], check=True)
    return device


def main():
    devices = [tunnel(pid, f"10.77.0.{number}") for number, pid in enumerate(sys.argv[1:3], 1)]
    delay, packets = float(sys.argv[3]), deque[tuple[float, int, bytes]]()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # a busy machine would add milliseconds
    print("joined", flush=True)
    while True:
        pause = max(0.0, packets[0][0] - time.monotonic()) if packets else None
        for device in select.select(devices, [], [], pause)[0]:
            other = devices[1 - devices.index(device)]
            packets.append((time.monotonic() + delay, other, os.read(device, 65536)))
        while packets and packets[0][0] <= time.monotonic():
            _, device, packet = packets.popleft()
            os.write(device, packet)


if __name__ == "__main__":
    main()
