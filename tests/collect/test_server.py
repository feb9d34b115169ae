from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepgrid.collect import counts

NO_LEVEL = {"family": "default", "level": "L0"}


def _kept(step: Path, when: str, **said: object) -> None:
    (step / "statistics").mkdir(exist_ok=True)
    (step / "statistics" / f"{when}.json").write_text(json.dumps(said))


@pytest.fixture
def step(tmp_path: Path) -> Path:
    before = {"Handler_read_key": 5, "Handler_read_next": 0, "Innodb_os_log_written": 512, "gone": 1, "set_back": 9}
    after = {"Handler_read_key": 105, "Handler_read_next": 0, "Innodb_os_log_written": 1536, "new": 1, "set_back": 2}
    _kept(tmp_path, "before", counters=before, sizes={"data_bytes": 1})
    _kept(tmp_path, "after", counters=after, sizes={"data_bytes": 16384, "index_bytes": 0})
    return tmp_path


def test_by_how_much_they_grew(step: Path) -> None:
    grown = {"Handler_read_key": 100, "Handler_read_next": 0, "Innodb_os_log_written": 1024}
    assert counts.server_figures(step, None).counters == grown


def test_a_counter_that_is_not_supported_is_missing(tmp_path: Path) -> None:
    """MyRocks says -1 of what its build does not count."""
    _kept(tmp_path, "before", counters={"BLOCK_READ_TIME": -1, "SEEKS": 0})
    _kept(tmp_path, "after", counters={"BLOCK_READ_TIME": -1, "SEEKS": 3})
    assert counts.server_figures(tmp_path, None).counters == {"SEEKS": 3}


def test_figures(step: Path) -> None:
    sizes = {"data_bytes": 16384.0, "index_bytes": 0.0}
    assert counts.server_figures(step, None).metrics == sizes
    assert counts.server_figures(step, 50).metrics == {**sizes, "rows_read_per_op": 2.0, "log_bytes_per_op": 20.48}


def test_rows_by_table(tmp_path: Path) -> None:
    index = {"schema_name": "d", "table_name": "t", "index_name": "i", "rows": 5}
    tables = [{"schema_name": schema, "table_name": "t", "rows": 5} for schema in "de"]
    _kept(tmp_path, "before", objects=[*tables, index, {"schema_name": "d", "table_name": "unknown"}])
    assert counts.server_figures(tmp_path, None).start == {"rows": 10.0, "rows by table": {"t": 10.0}}


def test_a_step_without_a_server(tmp_path: Path) -> None:
    assert counts.server_figures(tmp_path, 50) == counts.ServerFigures()


def test_garbage_is_that_after_the_step_and_work_that_of_the_step(tmp_path: Path) -> None:
    work = {"ingest_bytes": 1000, "compaction_write_bytes": 700, "compaction_cpu_seconds": 1.5}
    _kept(tmp_path, "before", garbage={"tombstones": 9}, work=work)
    work = {"ingest_bytes": 1400, "compaction_write_bytes": 2700, "compaction_cpu_seconds": 1.75}
    objects = [{"schema_name": "d", "table_name": "t", "tombstones": 5.0}]
    _kept(tmp_path, "after", garbage={"tombstones": 5, "history_list_length": 0}, work=work, objects=objects)
    found = counts.server_figures(tmp_path, None)
    assert found.metrics == {
        "tombstones": 5.0,
        "history_list_length": 0.0,
        "ingest_bytes": 400.0,
        "compaction_write_bytes": 2000.0,
        "compaction_cpu_seconds": 0.25,
        "write_amplification": 5.0,
    }
    assert found.sizes == objects


def test_a_level_has_what_was_done_to_it_during_the_step(tmp_path: Path) -> None:
    was = {**NO_LEVEL, "files": 2, "bytes": 100, "write_bytes": 300, "seconds": 1.0, "compactions": 3}
    _kept(tmp_path, "before", levels=[was])
    now = {**NO_LEVEL, "files": 1, "bytes": 60, "write_bytes": 500, "seconds": 2.0, "compactions": 7}
    new = {"family": "default", "level": "L1", "files": 1, "write_bytes": 8, "seconds": 0.5, "compactions": 0}
    _kept(tmp_path, "after", levels=[now, new])
    done = {"write_bytes": 200, "seconds": 1.0, "compactions": 4, "average_seconds": 0.25}
    assert counts.server_figures(tmp_path, None).levels == ({**NO_LEVEL, "files": 1, "bytes": 60, **done}, new)


def test_levels_that_were_not_read_before_the_step_are_missing(tmp_path: Path) -> None:
    _kept(tmp_path, "before", counters={})
    _kept(tmp_path, "after", levels=[{**NO_LEVEL, "files": 1, "seconds": 9.0}])
    assert counts.server_figures(tmp_path, None).levels == ()


def test_what_a_step_began_with(tmp_path: Path) -> None:
    tree = [
        {"family": family, "level": level, "files": files, "bytes": files * 100, "score": 1.0}
        for family, level, files in (
            ("default", "L0", 2),
            ("default", "Sum", 5),
            ("other", "L0", 1),
            ("other", "L6", 3),
        )
    ]
    objects = [
        {"schema_name": "d", "table_name": "t", "rows": 70.0},
        {"schema_name": "d", "table_name": "t", "index_name": "k", "rows": 70.0},
        {"schema_name": "d", "table_name": "u", "rows": 30.0},
    ]
    state = {"cached_bytes": 4096, "cache_bytes": 8192}
    _kept(
        tmp_path, "before", counters={"x": 1}, sizes={"data_bytes": 700, "lsm_bytes": 5}, objects=objects, levels=tree,
        garbage={"history_list_length": 9}, state=state,
    )  # fmt: skip
    assert counts.server_figures(tmp_path, None).start == {
        "data_bytes": 700.0,
        "history_list_length": 9.0,
        "cached_bytes": 4096.0,
        "cache_bytes": 8192.0,
        "rows": 100.0,
        "rows by table": {"t": 70.0, "u": 30.0},
        "levels": {"L0": [3.0, 300.0], "L6": [3.0, 300.0]},
    }


def test_every_figure_is_a_metric() -> None:
    from stepgrid.model.figures import DATA_BYTES, INDEX_BYTES
    from stepgrid.plugins.metrics import METRICS

    assert {*counts.PER_OPERATION, DATA_BYTES, INDEX_BYTES} <= set(METRICS)
