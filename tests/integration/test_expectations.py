"""Benchmarks that lie: what a spec expects of them catches each, and measures nothing again."""

import re
import shutil

import duckdb

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


def outcomes(lab: Lab) -> dict[tuple[str, str], tuple[str, bool, str]]:
    """By lie and step: status, whether it has a figure, and why not."""
    (tables,) = {path.parent for path in lab.folder.glob("outputs/summary/*/tables/steps.parquet")}
    columns = "axis_lie, step, any_value(status), bool_or(qps IS NOT NULL), coalesce(any_value(reason), '')"
    rows = duckdb.sql(f"SELECT {columns} FROM '{tables}/steps.parquet' WHERE measured GROUP BY ALL").fetchall()
    return {(lie, step): (status, has_figure, _mask(reason)) for lie, step, status, has_figure, reason in rows}


def _mask(reason: str) -> str:
    return re.sub(r"(?<= is )[\d.,]+( \wiB)?", "N", reason)


def test_keys_that_are_not_loaded_a_cache_that_holds_all_and_a_log_without_syncs(lab: Lab) -> None:
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
