"""RocksDB under kv_bench, by its shared library: latency of a stall, what a write survives, work beside it."""

import re
import signal
import subprocess
import time

import pytest

from stepgrid.build.record import programs
from stepgrid_databases.drivers.command.parser import parse
from tests.integration.conftest import Lab
from tests.needs import require
from tests.waiting import LONG, until

SPEC = """\
title: a checkpoint and a tenant beside a load
include: [library/kv_bench.yaml]
builds: {rocksdb: {extends: kv_bench.rocksdb}}
options: [{write_buffer_size: 256KiB, cache_size: 1MiB}]
steps:
  - {name: load, kind: command, mutates: true, measured: false,
     argv: ["{program:kv_bench}", rocksdb, fillseq, "--db={data}", --num=20000, --batch_size=100, "{options}"]}
  - {name: main, kind: command, mutates: true,
     argv: ["{program:kv_bench}", rocksdb, ycsb_a, "--db={data}", --num=20000, --duration=14, --rate=300, "{options}"],
     beside: [
        {name: backup, kind: command, at: 4s,
         argv: [sh, -c, '"$@" checkpoint --db={data} --to={folder}/copy && sleep 3 &&
           "$@" readrandom --db={folder}/copy --num=20000', sh, "{program:kv_bench}", rocksdb],
         metrics: {linked: {pattern: 'checkpoint: .* bytes, ([0-9]+) of them'}, found_pct: {report: found_pct}}},
        {name: tenant, kind: command, at: 9s,
         argv: ["{program:kv_bench}", rocksdb, fillrandom, "--db={folder}/db", --num=50000]}]}
claims:
  - {claim: the copy is whole, expect: "found_pct(build='rocksdb') == 100", where: &backup {step: main/backup}}
  - {claim: it has links, expect: "linked(build='rocksdb') > 1000000", where: *backup}
  - {claim: its cost, expect: "main_p99_ratio(build='rocksdb') * main_qps_ratio(build='rocksdb') > 0", where: *backup}
  - {claim: the tenant wrote, expect: "operations(build='rocksdb') == 50000", where: {step: main/tenant}}
allow: {no-repeats: a test, step-short: a test}
"""


@pytest.fixture(scope="module")
def execute(tmp_path_factory):
    require("apt", "rustc")
    lab = Lab(tmp_path_factory.mktemp("kv_bench"))
    lab.write(SPEC)
    for command in (["builds", "--yes"], ["run"], ["report", "--strict"]):  # the claims hold
        process = lab.execute(lab.argv(command[0], "spec.yaml", *command[1:]), timeout=LONG)
        assert process.returncode == 0, process.stdout + process.stderr
    (build,) = (lab.folder / "outputs" / "builds").iterdir()

    def execute(folder, *words, stop=False):
        """Run a benchmark, and stop the process once it has reported; return how long it stood still."""
        argv = [*programs(build)["kv_bench"], "rocksdb", *words, "--db=db", "--num=20000"]
        report, process = folder / "report.jsonl", subprocess.Popen(argv, cwd=folder)
        until(lambda: not stop or (report.exists() and report.read_text()))
        began = time.monotonic()
        for sign, pause in ((signal.SIGSTOP, 1), (signal.SIGCONT, 0)) if stop else ():
            process.send_signal(sign)
            time.sleep(pause)
        seconds = time.monotonic() - began
        assert process.wait(LONG) == 0
        return seconds

    execute.program = [*programs(build)["kv_bench"], "rocksdb"]
    return execute


def test_the_latency_of_a_stall(execute, tmp_path):
    for rate in (["--rate=2000"], []):
        execute(tmp_path, "fillseq", "--batch_size=100")
        (tmp_path / "report.jsonl").unlink()
        seconds = execute(tmp_path, "readrandom", "--duration=10", "--threads=8", *rate, stop=True)
        expected, figures = (seconds - 0.1) * 1e6, parse(tmp_path, {"metrics": {}})  # 0.1 s: 1 % of the operations
        assert (figures.metrics["p99_us"] > 0.8 * expected, figures.facts["rocksdb"]) == (bool(rate), "9.10.0")
        if rate:
            assert (figures.metrics["backlog"], figures.metrics["operations"]) == (0, 20_000)
            assert figures.metrics["service_p99_us"] < 0.5 * expected
            assert max(p99 for _, p99 in figures.p99) > 0.8 * expected  # of that second


def test_a_class_of_durability_is_what_rocksdb_does(execute, tmp_path):
    """By its own count of the writes of its log, and of the syncs."""
    execute(tmp_path, "fillseq", "--batch_size=100")
    found, words = {}, ("overwrite", "--threads=4", "--duration=3.5", "--stats_dump_period_sec=1")
    for durability in ("none", "os", "sync", "group"):
        execute(tmp_path, *words, f"--durability={durability}")
        log = (tmp_path / "db/LOG").read_text()
        found[durability] = re.findall(r"Cumulative WAL: (\S+) writes, (\S+) syncs, (\S+) writes", log)[-1]
    assert found["none"][0] == found["os"][1] == "0" != found["os"][0]
    assert float(found["sync"][2]) == 1.0 < float(found["group"][2])


def test_nothing_is_lost_to_a_load_or_a_checkpoint(execute, tmp_path):
    execute(tmp_path, "fillseq", "--disable_auto_compactions=true", "--write_buffer_size=65536")  # which ends
    (tmp_path / "copy.tmp").mkdir()
    (tmp_path / "copy.tmp/mine").touch()
    (tmp_path / "level").mkdir()
    for name in ("CURRENT", "000005.ldb"):  # of LevelDB, which RocksDB would take for its own
        (tmp_path / "level" / name).touch()
    with subprocess.Popen([*execute.program, "overwrite", "--db=db", "--duration=60"], cwd=tmp_path) as process:
        until(lambda: (tmp_path / "db/kv_bench.socket").exists())
        files = {path for path in tmp_path.glob("*/*") if path.suffix not in {".sst", ".log"}}
        for words, message in (
            *(
                (f"{name} --db={db}", "no database")
                for name in ("fillseq", "readrandom")
                for db in ("copy.tmp", "level")
            ),
            ("fillseq --db=db", "another kv_bench has db open"),
            *((f"checkpoint --db=db --to={to}", text) for to, text in (("copy/", "empty"), ("db/copy", "inside"))),
            *((f"overwrite --{name}=x", name) for name in ("manual_wal_flush", "db_log_dir", "to", "bloom_bits")),
        ):
            refusal = subprocess.run([*execute.program, *words.split()], cwd=tmp_path, capture_output=True, text=True)
            assert (refusal.returncode, message in refusal.stderr) == (1, True), refusal.stderr
        assert files <= set(tmp_path.glob("*/*"))
        process.kill()
