"""What the sampler costs beside a server of many processes, clients of many threads and a database of many files.

python bench/sampler.py [PROCESSES THREADS FILES SECONDS]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stepgrid.host import disk, sysfs
from stepgrid.host.sampling import Sampler

DEFAULTS = (300, 100, 5000, 30)
SERVER = """
import os, sys, time
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        os.setsid()  # as the backends of Postgres do
        break
while True:
    time.sleep(0.2)
"""
CLIENT = """
import sys, threading, time
for _ in range(int(sys.argv[1])):
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
time.sleep(3600)
"""


def main(processes: int, threads: int, files: int, seconds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        for number in range(files):
            (data / f"{number:06}.sst").touch()
        server, client = start(SERVER, processes), start(CLIENT, threads)
        try:
            time.sleep(3)
            measure(Path(folder), data, client, server, seconds)
        finally:
            for child in (client, server):
                end(child)


def measure(folder: Path, data: Path, client: int, server: int, seconds: int) -> None:
    sampler = Sampler(folder / "samples.jsonl", data, server=server)
    device = disk.device(data)
    sampler._devices = [*(disk.members(device) if device else []), *sysfs.names("sys/class/block")][:32]
    sampler.start(client)
    time.sleep(seconds)
    sampler.stop(client)
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    looked = sum("server" in sample for sample in samples)
    print(f"{len(samples)} samples, {looked} with the server's {samples[-1]['server']['threads']:g} processes")
    print(f"{len(samples[-1].get('devices', {}))} devices, {samples[-1]['process']['threads']:g} threads of the client")
    print(f"{sampler.cpu_seconds:.3f} CPU s in {seconds} s: {sampler.cpu_seconds / seconds:.2%} of a core")
    if sampler.error:
        print(sampler.error)


def start(code: str, count: int) -> int:
    return subprocess.Popen([sys.executable, "-c", code, str(count)], process_group=0).pid


def end(leader: int) -> None:
    """All that it started, in whatever session."""
    from stepgrid.host.sampling import ProcessGroup

    for pid in sorted(ProcessGroup(leader).members(), reverse=True):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(leader, 0)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:])) if sys.argv[1:] else main(*DEFAULTS)
