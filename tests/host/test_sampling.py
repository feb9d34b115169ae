import json
import os
import select
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from stepgrid.host.sampling import RUNNING, ProcessGroup, Sampler

BUSY = """
import os, sys, time
with open(sys.argv[1] + "/file", "wb") as file:
    file.write(bytes(3 << 20))
    file.flush()
    os.fsync(file.fileno())
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
if os.fork() == 0:
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
else:
    os.wait()
"""


@pytest.fixture
def busy(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    sampler = Sampler(tmp_path / "samples.jsonl", data)
    child = subprocess.Popen([sys.executable, "-c", BUSY, str(data)], process_group=0)
    sampler.start(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    sampler.stop(child.pid)
    child.wait()
    assert sampler.error is None
    return [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]


def test_samples_begin_with_the_step_and_end_with_it(busy):
    assert len(busy) >= 2
    first, last = busy[0], busy[-1]
    assert last["monotonic"] - first["monotonic"] >= 0.6
    assert abs(last["t"] - time.time()) < 60
    assert set(first["cpu"]) >= {"user", "nice", "system", "idle", "iowait"}
    assert last["switches"] > first["switches"]
    assert last["interrupts"] > first["interrupts"]
    assert last["running"] >= 1
    assert last["memory"]["available"] > 0
    assert last["paging"]["written"] >= first["paging"]["written"] > 0
    assert last["database_bytes"] == 3 << 20


def _cpu(sample):
    return sample["user"] + sample["system"]


CHILD = """
import os, sys, time
end = time.process_time() + 0.6
while time.process_time() < end: pass
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.write(file, bytes(1 << 20)); os.fsync(file)
"""
PARENT = """
import subprocess, sys
subprocess.run([sys.executable, "-c", sys.argv[1], sys.argv[2]])
print("waited", flush=True)
input()
"""


@pytest.mark.parametrize("often", [True, False])
def test_what_a_child_used_that_was_waited_for_counts_once(tmp_path, often):
    """The kernel adds it to its parent: seen before its end or not, the sum is the same."""
    argv = [sys.executable, "-c", PARENT, CHILD, str(tmp_path / "file")]
    leader = subprocess.Popen(argv, process_group=0, stdin=-1, stdout=-1)
    group = ProcessGroup(leader.pid)
    try:
        while not select.select([leader.stdout], [], [], 0.02)[0]:
            if often:
                group.sample()
        after = group.sample()
    finally:
        leader.kill()
        leader.communicate()
    assert 0.6 <= _cpu(after) < 1.2  # what two Pythons need to start is in it
    if "write_bytes" in after:
        assert 1 << 20 <= after["write_bytes"] < 2 << 20


FORKER = """
import os, time
for number in range(15):
    if not (child := os.fork()):
        end = time.process_time() + 0.1
        while time.process_time() < end: pass
        os._exit(0)
    os.waitpid(child, 0)
print("waited", flush=True)
input()
"""


def test_a_child_that_is_waited_for_while_the_group_is_read_is_neither_lost_nor_counted_twice():
    """A backend ends with its client, as the last sample of a step is taken."""
    leader = subprocess.Popen([sys.executable, "-c", FORKER], process_group=0, stdin=-1, stdout=-1)
    group, used = ProcessGroup(leader.pid), []
    try:
        while not select.select([leader.stdout], [], [], 0)[0]:
            used.append(_cpu(group.sample()))
        used.append(_cpu(group.sample()))
    finally:
        leader.kill()
        leader.communicate()
    assert all(later >= earlier - 0.03 for earlier, later in pairwise(used)), "more than ticks that are cut off"
    assert max(used) <= used[-1] + 0.03


def test_a_child_in_a_session_of_its_own_belongs_to_the_group_that_started_it():
    """As the backends of Postgres are."""
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(60)\n    time.sleep(60)\n"
        "time.sleep(60)"
    )
    leader = subprocess.Popen([sys.executable, "-c", code], process_group=0)
    found = []
    try:
        end = time.monotonic() + 60
        while len(found) < 3 or all(os.getpgid(pid) == leader.pid for pid in found):
            assert time.monotonic() < end
            found = ProcessGroup(leader.pid).members()
        assert ProcessGroup(leader.pid).sample()["threads"] == 3
    finally:
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        leader.wait()


def test_a_server_is_sampled_beside_its_client(tmp_path):
    client, server = (subprocess.Popen([sys.executable, "-c", "input()"], process_group=0, stdin=-1) for _ in "ab")
    sampler = Sampler(tmp_path / "samples.jsonl", tmp_path, server=server.pid)
    try:
        sampler.start(client.pid)
        client.stdin.close()
        os.waitid(os.P_PID, client.pid, os.WEXITED | os.WNOWAIT)
        sampler.stop(client.pid)
    finally:
        for child in (client, server):
            child.kill()
            child.wait()
    assert sampler.error is None
    first, *_, last = (json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines())
    assert first["server"]["threads"] == last["server"]["threads"] == 1
    assert last["server"]["rss"] > 0
    assert last["process"]["rss"] == 0  # it has ended


SLEEPER = """
import threading, time
lock, end = threading.Lock(), time.monotonic() + 3
def hold():
    while time.monotonic() < end:
        with lock:
            time.sleep(0.002)
            sum(range(5000))
threads = [threading.Thread(target=hold) for _ in range(2)]
for thread in threads:
    thread.start()
"""


def test_samples_tell_sleep_by_a_timer_from_waiting_for_a_lock_and_for_a_processor(tmp_path):
    """Whatever else this host does: run delay is that of the step's own threads."""
    sampler = Sampler(tmp_path / "samples.jsonl", None)
    child = subprocess.Popen([sys.executable, "-c", SLEEPER], process_group=0)
    sampler.start(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    sampler.stop(child.pid)
    child.wait()
    assert sampler.error is None
    lines = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    first, last = lines[0]["waits"], lines[-1]["waits"]
    assert not any(first.values())
    assert last[RUNNING] > 0
    assert last["timer"] > 0.3, last
    assert last["lock"] > 0.3, last
    assert last["disk"] + last["peer"] < 0.5 * (last["timer"] + last["lock"]), last
    assert lines[-1]["process"]["faults"] > 0
