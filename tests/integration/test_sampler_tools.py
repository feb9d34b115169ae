"""The sampler's figures against those of the real iostat and vmstat, in the same seconds, under a load on the disk."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import reduce

import pytest

from stepgrid.build.apt import fetch_package
from stepgrid.collect.samples import AVERAGED, GAUGES, SUMS
from stepgrid.host import disk
from stepgrid.host.sampling import Sampler
from tests.collect.reading import usage
from tests.integration import tools
from tests.needs import require

WINDOWS = (15, 30, 60)  # seconds: of a machine that others use as well, the longer one says more
WITHIN = 0.05
LOAD = """
import mmap, os, random, sys
file = os.open(sys.argv[1] + "/file", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
size, block = 64 << 20, mmap.mmap(-1, 1 << 20)
for at in range(0, size, len(block)):
    os.pwrite(file, block, at)
random.seed(1)
while True:
    for count in range(8):
        at = random.randrange(size // len(block)) * len(block)
        length = random.choice((4096, 16384, 65536))
        os.pwrite(file, memoryview(block)[:length], at)
        os.preadv(file, [memoryview(block)[: 2 * length]], at)
    os.fdatasync(file)
"""
OF_IOSTAT = {  # column -> figure, and what a column of two decimals cannot tell
    "r/s": "device_reads_per_s",
    "rMB/s": "device_read_mb_per_s",
    "rrqm/s": "device_read_merges_per_s",
    "r_await": "device_read_await_ms",
    "rareq-sz": "device_read_request_kb",
    "w/s": "device_writes_per_s",
    "wMB/s": "device_write_mb_per_s",
    "wrqm/s": "device_write_merges_per_s",
    "w_await": "device_write_await_ms",
    "wareq-sz": "device_write_request_kb",
    "f/s": "device_flushes_per_s",
    "f_await": "device_flush_await_ms",
    "aqu-sz": "device_queue",
    "util": "device_busy_pct",
}
OF_VMSTAT = {  # column -> figure, in one of the column's units, and what the column cannot tell
    "r": ("run_queue", 1.0, 2.0),  # of an instant, and of another one than ours; newer versions count themselves
    "b": ("blocked_tasks", 1.0, 1.0),
    "swpd": ("swap_used_bytes", 1 / 1024, 1.0),
    "free": ("memory_free_bytes", 1 / 1024, 1.0),
    "buff": ("memory_buffer_bytes", 1 / 1024, 1.0),
    "cache": ("memory_cache_bytes", 1 / 1024, 1.0),
    "si": ("swap_in_mb_per_s", 1024.0, 1.0),
    "so": ("swap_out_mb_per_s", 1024.0, 1.0),
    "bi": ("host_read_mb_per_s", 1024.0, 1.0),
    "bo": ("host_write_mb_per_s", 1024.0, 1.0),
    "in": ("interrupts_per_s", 1.0, 1.0),
    "cs": ("context_switches_per_s", 1.0, 1.0),
    "us": ("host_cpu_user_pct", 1.0, 0.5),
    "sy": ("host_cpu_system_pct", 1.0, 0.5),
    "id": ("host_cpu_idle_pct", 1.0, 0.5),
    "wa": ("host_cpu_iowait_pct", 1.0, 0.5),
    "st": ("host_cpu_steal_pct", 1.0, 0.5),
}
OF_HOST = {figure for figure, _, _ in OF_VMSTAT.values()}
LEVELS = ("r", "b", "swpd", "free", "buff", "cache")


@pytest.fixture(scope="module")
def iostat(tmp_path_factory):
    if found := shutil.which("iostat"):
        return found
    require("apt")
    return str(fetch_package("sysstat", tmp_path_factory.mktemp("sysstat")) / "usr/bin/iostat")


@pytest.fixture
def load(tmp_path, db_bench):
    """Where it works, on which device, and the process group of a busy db_bench."""
    require("vmstat")
    device = disk.device(tmp_path)
    if device is None:
        pytest.skip("the temporary folder is on no block device")
    (tmp_path / "direct").mkdir()
    direct = subprocess.Popen([sys.executable, "-c", LOAD, str(tmp_path / "direct")], process_group=0)
    words = ["--benchmarks=overwrite", "--num=1000000", "--duration=600", "--sync=1", f"--db={tmp_path / 'db'}"]
    quiet = subprocess.DEVNULL
    bench = subprocess.Popen([db_bench, *words], process_group=0, stdout=quiet, stderr=quiet)
    try:
        time.sleep(2)
        assert (direct.poll(), bench.poll()) == (None, None)
        yield tmp_path, device, bench.pid
    finally:
        for child in (direct, bench):
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


@pytest.mark.nightly
def test_the_same_means_as_iostat_and_vmstat(iostat, load):
    """One that is wrong is apart in every window; one that changed between two looks is not."""
    folder, device, pid = load
    found = list[dict[str, str]]()
    for seconds in WINDOWS:
        found.append(_differing(iostat, folder, device, pid, seconds))
        always = set.intersection(*map(set, found))
        if not always:
            return
    assert not always, {name: [each[name] for each in found] for name in always}


def _differing(iostat, folder, device, pid, seconds):
    """Columns whose means are further apart than 5 %, than what is printed can tell, and than the rows explain."""
    step = folder / f"step-{seconds}"
    step.mkdir()
    sampler = Sampler(step / "samples.jsonl", folder / "db")
    sides = [tools.start(argv) for argv in (tools.iostat(iostat, device, seconds), tools.vmstat("vmstat", seconds))]
    sampler.start(pid)
    said = [side.communicate(timeout=seconds + 60)[0] for side in sides]
    sampler.stop(pid)
    _cut(step / "samples.jsonl", seconds + 1)
    ours = usage(step, None)
    of_devices = tools.iostat_columns(said[0], device)
    of_host = tools.vmstat_columns(said[1])
    of_device = {name: (figure, 1.0, 0.01) for name, figure in OF_IOSTAT.items()}
    samples = [json.loads(line) for line in (step / "samples.jsonl").read_text().splitlines()]
    spreads = {name: _spread(name, samples) for name in AVERAGED if name in OF_HOST}
    return dict([*_apart(of_devices, of_device, ours, {}), *_apart(of_host, OF_VMSTAT, ours, spreads)])


def _spread(name, samples):
    """Between the smallest and the largest of our values.

    A peak that we saw may lie between two rows of the tool, and vmstat of procps 4.0.2 reads memory once, at its start.
    """
    values = [_level(name, each) for each in samples]
    return max(values) - min(values)


def _level(name, sample):
    if name in GAUGES:
        return float(reduce(lambda part, key: part[key], GAUGES[name].keys, sample))
    (section, first), sign, (_, second) = SUMS[name]
    return float(sample[section][first] + sign * sample[section][second])


def _cut(path, count):
    """As many samples as the tools made; the one at the end is of no whole second."""
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) >= count, json.loads(lines[-1])
    path.write_text("".join(lines[:count]))


def _apart(theirs, columns, ours, spreads):
    known = {name: entry for name, entry in columns.items() if name in theirs}  # older tools have fewer
    assert len(known) >= len(columns) - 3, sorted(theirs)
    for name, (figure, unit, least) in known.items():
        own = ours.get(figure, 0.0) * unit  # a tool prints 0 where nothing was asked
        said = theirs[name]
        if abs(own - said.mean) > max(WITHIN * said.mean, least, _phase(name, said), spreads.get(figure, 0.0) * unit):
            yield name, f"{said.mean:.6g}, but {figure} {own:.6g}"


def _phase(name, said):
    """How much a mean can change because we look at other moments than the tool: our rows begin and end within theirs.

    A level may be anywhere in its range at another moment; of a rate, two rows at most are cut another way.
    """
    return said.spread if name in LEVELS else 2 * said.spread / said.rows
