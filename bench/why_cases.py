"""Sweeps of a real engine whose difference has a known cause: their specs, and what the host needs for them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1] / "specs/library"
PRELOAD, PATCH = (Path(__file__).with_name(name) for name in ("why_preload.c", "why_slow.patch"))
CGROUP = Path("/sys/fs/cgroup/blkio/stepgrid-why")
READS = 300  # of the limited device, a second
DISK = 1500 * 1024 * 1024
BUILD = "rocksdb: {engine: rocksdb, version: 9.10.0, source: {debian: rocksdb-tools, suite: trixie}}"
SPEC = """\
title: {title}
include: [{library}/rocksdb.yaml, {library}/db_bench.yaml]
hardware: here
builds:
  {builds}
options:
  - leveled
  - write_buffer_size: 4MiB
    target_file_size_base: 4MiB
    max_bytes_for_level_base: 16MiB
    {options}
workload: db_bench.sequence
steps: [fillseq, flush, {{checkpoint: loaded}}, {step}]
params: {{keys: 200k, duration: {seconds}s, threads: {threads}}}
sweep:
  {axis}
repeat: {loads}
report: {{base: {{{base}}}}}
allow: {{{allow}}}
"""
SLOW, EXTRA = "_bt_verify_slowly", 5.0  # what the patch adds, and its microseconds of each point read
PATCHED = """\
title: {title}
include: [{library}/sysbench.yaml]
hardware: here
builds:
  postgres: {{engine: postgres, version: 15, source: {{debian-source: postgresql-15, suite: bookworm, patched: false}}}}
  slow: {{extends: postgres, patches: [why_slow.patch]}}
options: [{{{options}}}]
params: {{tables: 1, rows: 50000, threads: {threads}}}
steps:
  - {{name: load, kind: sysbench, lua: load, measured: false, mutates: true}}
  - {{checkpoint: loaded}}
  - {{name: {step}, kind: sysbench, lua: point_query, duration: {seconds}s}}
sweep: {{{axis}}}
repeat: {loads}
launch: {{cpus: 1}}  # a client that wakes a server on another processor of a virtual machine: 14k to 70k QPS
profile: {{where: changed, for: {seconds}s}}
report: {{base: {{{base}}}, tables: [functions]}}
allow: {{step-short: a bench of the tool, mixed-quality: a bench of the tool}}
"""


ALLOWED = ("step-short", "read-only-step", "mixed-quality", "clients-over-cores", "cache-shards-tiny", "direct-io-half")


@dataclass(frozen=True, slots=True)
class Case:
    """A sweep of one arm against its base."""

    name: str
    title: str
    right: str  # a pattern of the cause that is right
    axis: str
    base: str
    options: str
    threads: int = 1
    builds: str = BUILD
    step: str = "readrandom"
    text: str = SPEC

    def spec(self, loads: int, seconds: int) -> str:
        names = ("title", "axis", "base", "options", "threads", "builds", "step")
        words = {name: getattr(self, name) for name in names}
        allow = ", ".join(f"{code}: a bench of the tool" for code in ALLOWED)
        return self.text.format(library=LIBRARY, allow=allow, loads=loads, seconds=seconds, **words)


def _arms(*arms: str, start: str = "loaded") -> str:
    return "\n".join((f"arm:\n    from: {start}\n    points:", *(f"      {each}" for each in arms)))


def cases(folder: Path) -> list[Case]:
    """`folder`: where the preloaded library is made, and the fork, and where the patch is copied to."""
    shutil.copy(PATCH, folder)
    preload = folder / "why.so"
    return [
        Case(
            "contention",
            "LRU against hyper-clock, 16 threads",
            r"context switches",
            _arms(
                "hyper: {options: {cache_type: auto_hyper_clock_cache}}",
                "lru: {options: {cache_type: lru_cache}}",
            ),
            "arm: hyper",
            "cache_size: 256MiB\n    cache_numshardbits: 0\n    block_size: 1KiB\n    compression_type: none",
            threads=16,
        ),
        Case(
            "default",
            "a build with another default",
            r"default compression_type",
            "build: [rocksdb, fork]",
            "build: rocksdb",
            "cache_size: 8MiB\n    cache_numshardbits: 2",
            builds=f"{BUILD}\n  fork: {{engine: rocksdb, version: 9.10.0, source: {{system: {folder}/fork/db_bench}}}}",
        ),
        Case(
            "cache",
            "a smaller cache",
            r"block cache misses",
            _arms("large: {options: {cache_size: 256MiB}}", "small: {options: {cache_size: 2MiB}}"),
            "arm: large",
            "compression_type: zlib\n    statistics: true",
        ),
        Case(
            "device",
            "a throttled device",
            r"each read of the device waits",
            _arms("free: {}", f"limited: {{launch: {{env: {{LD_PRELOAD: {preload}, WHY_CGROUP: {CGROUP}}}}}}}"),
            "arm: free",
            "cache_size: 8MiB\n    cache_numshardbits: 2\n    use_direct_reads: true\n    compression_type: none",
        ),
        Case(
            "fsync",
            "fsync on each commit",
            r"device writes|each write of the device waits",
            _arms("lazy: {params: {sync: false}}", "synced: {params: {sync: true}}"),
            "arm: lazy",
            "cache_size: 64MiB\n    sync: '{{ params.sync }}'",
            step="{name: overwrite, kind: db_bench, benchmarks: [overwrite], mutates: true}",
        ),
        Case(
            "patch",
            "a function that a patch made slower",
            rf"^`{SLOW}`",
            "build: [postgres, slow]",
            "build: postgres",
            "engine: postgres, options: {shared_buffers: 128MB, synchronous_commit: off}",
            step="point-query",
            text=PATCHED,
        ),
    ]


def _has(program: str) -> bool:
    return shutil.which(program) is not None


def prepare(folder: Path) -> None:
    """The library, and a fork: the program of the build with another default, in its help as well."""
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "why.so", PRELOAD], check=True)
    found = next(folder.glob("outputs/builds/*/build.json"))
    words = json.loads(found.read_text(encoding="utf-8"))["programs"]["db_bench"]
    command = " ".join(f"'{_absolute(word, found.parent)}'" for word in words)
    path = folder / "fork" / "db_bench"
    path.parent.mkdir(exist_ok=True)
    path.write_text(FORK.format(command=command), encoding="utf-8")
    path.chmod(0o755)


def _absolute(word: str, folder: Path) -> str:
    return str(folder / word) if (folder / word).exists() else word


FORK = """\
#!/bin/sh
case " $* " in
*help*) {command} "$@" | sed '/-compression_type /,/default/ s/default: "snappy"/default: "zlib"/' ;;
*) exec {command} --compression_type=zlib "$@" ;;
esac
"""


@contextmanager
def limited_disk(folder: Path) -> Iterator[Path]:
    """A site file whose data lie on a loop device; what is in the cgroup reads slowly from the disk below it."""
    image, mount = folder / "disk.img", folder / "disk"
    with image.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, DISK)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    found = subprocess.run(
        ["losetup", "--find", "--show", "--direct-io=on", image], check=True, capture_output=True, text=True
    )
    loop = found.stdout.strip()
    try:
        mount.mkdir(exist_ok=True)
        subprocess.run(["mount", loop, mount], check=True)
        try:
            yield _limits(folder, mount)
        finally:
            subprocess.run(["umount", mount], check=True)
            CGROUP.rmdir()
    finally:
        subprocess.run(["losetup", "--detach", loop], check=True)
        image.unlink()


def _limits(folder: Path, mount: Path) -> Path:
    device = folder.stat().st_dev
    CGROUP.mkdir()
    limit = f"{os.major(device)}:{os.minor(device)} {READS}"
    (CGROUP / "blkio.throttle.read_iops_device").write_text(limit, encoding="ascii")
    site = folder / "limited.yaml"
    site.write_text(f"data: {mount}\n", encoding="utf-8")
    return site


def can_limit() -> bool:
    """It takes root, loop devices and the blkio controller of cgroup v1."""
    return os.geteuid() == 0 and (CGROUP.parent / "blkio.throttle.read_iops_device").exists() and _has("losetup")
