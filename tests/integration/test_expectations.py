"""Benchmarks that lie: what a spec expects of them catches each, and measures nothing again."""

import re
import shutil

import duckdb
import pytest

from tests.integration.conftest import BUILD, Lab

DB_BENCH = f"""\
title: three lies
builds: {{rocksdb: {BUILD}}}
options: [{{write_buffer_size: 256KiB, compression_type: none, cache_size: 256KiB, statistics: true}}]
steps:
  - {{name: fillseq, kind: db_bench, benchmarks: [fillseq, stats], fresh: true, writes: "{{{{ params.loaded }}}}"}}
  - {{checkpoint: loaded}}
  - {{name: readrandom, kind: db_bench, benchmarks: [readrandom], reads: 5k,
     expects: [found_pct > 99, database_bytes > 3 * options.cache_size]}}
  - {{name: overwrite, kind: db_bench, benchmarks: [overwrite, stats], writes: 200, mutates: true,
     options: {{sync: "{{{{ params.durable }}}}"}},
     expects: "counters['rocksdb.wal.synced'] >= operations"}}
params: {{keys: 20k, loaded: 20k, durable: true}}
sweep:
  lie:
    points:
      none: {{}}
      half of the keys: {{params: {{loaded: 10k}}}}
      all in the cache: {{options: {{cache_size: 512MiB}}}}
      no sync: {{params: {{durable: false}}}}
repeat: 2
report: {{base: {{lie: none}}}}
"""


def outcomes(lab):
    """By lie and step: status, whether it has a figure, and why not."""
    (tables,) = {path.parent for path in lab.folder.glob("outputs/summary/*/tables/steps.parquet")}
    columns = "axis_lie, step, any_value(status), bool_or(qps IS NOT NULL), coalesce(any_value(reason), '')"
    rows = duckdb.sql(f"SELECT {columns} FROM '{tables}/steps.parquet' WHERE measured GROUP BY ALL").fetchall()
    return {(lie, step): (status, has_figure, _mask(reason)) for lie, step, status, has_figure, reason in rows}


def _mask(reason):
    return re.sub(r"(?<= is )[\d.,]+( \wiB)?", "N", reason)


def test_keys_that_are_not_loaded_a_cache_that_holds_all_and_a_log_without_syncs(lab):
    lab.write(re.sub(r",?\s+expects: .*(?=\}$)", "", DB_BENCH, flags=re.M))
    done = lab.run()
    assert done.returncode == 0, done.stderr
    assert {status for status, *_ in outcomes(lab).values()} == {"done"}
    results = lab.results()
    shutil.rmtree(lab.folder / "outputs" / "summary")
    lab.write(DB_BENCH)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    assert lab.results() == results
    void = {place: reason for place, (status, has_figure, reason) in outcomes(lab).items() if not has_figure}
    assert {status for status, has_figure, _ in outcomes(lab).values() if not has_figure} == {"failed"}
    synced = "counters['rocksdb.wal.synced']"
    assert void == {
        ("half of the keys", "readrandom"): "expects `found_pct > 99` is violated: found_pct is N",
        ("all in the cache", "readrandom"): "expects `database_bytes > 3 * options.cache_size` is violated: "
        "database_bytes is N; options.cache_size is N",
        ("no sync", "overwrite"): f"expects `{synced} >= operations` is violated: operations is N; {synced} is N",
    }
    (summary,) = (path.read_text() for path in lab.folder.glob("outputs/summary/*/summary.txt"))
    assert "INCOMPLETE" not in summary
    assert re.search(r"read with care \(\d+\)\n-+\n  readrandom of rocksdb: expects `", summary)


LIES = ("early", "errors", "rate", "clock", "idle", "order", "constant")
METRICS = """
      qps: {pattern: 'qps=([\\d.]+)'}
      operations: {pattern: 'operations=(\\d+)'}
      seconds: {pattern: 'seconds=([\\d.]+)'}
      errors: {pattern: 'errors=(\\d+)', unit: errors}
      p50_us: {pattern: 'p50=([\\d.]+)', unit: us}
      p99_us: {pattern: 'p99=([\\d.]+)', unit: us}
"""
SPEC = """\
title: programs that lie
builds:
  client: {engine: program, versions: [old.sh, new.sh, honest.sh], source: {path: bench},
    flags: {programs: "{{ version }}"}}
repeat: 3
steps:
"""
STEP = "  - {name: LIE, kind: command, argv: ['{program:{{ version }}}', LIE], DURATION\n     metrics: {METRICS}}\n"
HONEST = """\
#!/bin/sh
qps=9$$ operations= seconds=0.1 errors=0 p50=80 p99=130
"""
PRINT = """\
echo qps=$qps operations=${operations:-$((qps / 10))} seconds=$seconds errors=$errors p50=$p50 p99=$p99
"""
LIAR = f"""\
{HONEST}case $1 in
early) seconds=1 operations=$qps ;;
errors) operations=1000 qps=10000 errors=900 ;;
rate) operations=$((qps / 50)) ;;
clock) seconds=60 operations=$((qps * 60)) ;;
idle) operations=90000000000 seconds=1 qps=90000000000 ;;
order) p50=900 ;;
constant) qps=123456.7 operations=12346 ;;
esac
{PRINT}"""


@pytest.fixture
def summary(tmp_path):
    lab = Lab(tmp_path)
    steps = [STEP.replace("METRICS", ", ".join(METRICS.strip().splitlines())).replace("LIE", lie) for lie in LIES]
    lab.write(SPEC + "".join(steps).replace("DURATION", "duration: 60s,", 1).replace("DURATION", ""))
    (lab.folder / "bench").mkdir()
    for name, text in (("old.sh", LIAR), ("new.sh", LIAR), ("honest.sh", HONEST + PRINT)):
        (lab.folder / "bench" / name).write_text(text)
        (lab.folder / "bench" / name).chmod(0o755)
    run = lab.run()
    assert run.returncode == 0, run.stderr
    (path,) = lab.folder.glob("outputs/summary/*/summary.txt")
    return " ".join(path.read_text().split())


def test_eight_lies_are_doubted_and_nothing_honest(summary):
    liars = "client-old.sh, client-new.sh"
    for lie in (
        f"early of {liars}, client-honest.sh: it ran for 1.00 s of the 60.0 s that the spec asks for; in 9 of 9 runs",
        f"errors of {liars}: errors is 900, of 1,000 operations; in 6 of 9 runs",
        f"rate of {liars}: qps is 9",
        f"clock of {liars}: it says that it measured for 60.0 s, but its process ran for ",
        f"idle of {liars}: 90,000,000,000 operations took ",
        f"order of {liars}: p50_us is 900, above p99_us, which is 130; in 6 of 9 runs",
        "constant: qps is the same to the last digit in all loads: 123,456.7 of client-old.sh",
        "client-old.sh and client-new.sh are the same: their programs are byte-identical, and their settings equal",
    ):
        assert lie in summary, lie
    doubts = summary.partition("read with care")[2].partition("QPS relative")[0]
    assert doubts.count("client-honest.sh") == 1, "it ends early, too"
