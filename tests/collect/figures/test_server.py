from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from stepgrid.collect.figures import server


def _kept(step: Path, when: str, counters: Mapping[str, float], sizes: Mapping[str, float]) -> None:
    (step / "statistics").mkdir(exist_ok=True)
    (step / "statistics" / f"{when}.json").write_text(json.dumps({"counters": counters, "sizes": sizes}))


@pytest.fixture
def step(tmp_path: Path) -> Path:
    before = {"Handler_read_key": 5, "Handler_read_next": 0, "Innodb_os_log_written": 512, "gone": 1, "set_back": 9}
    after = {"Handler_read_key": 105, "Handler_read_next": 0, "Innodb_os_log_written": 1536, "new": 1, "set_back": 2}
    _kept(tmp_path, "before", before, {"data_bytes": 1})
    _kept(tmp_path, "after", after, {"data_bytes": 16384, "index_bytes": 0})
    return tmp_path


def test_by_how_much_they_grew(step: Path) -> None:
    assert server.counters(step) == {"Handler_read_key": 100, "Handler_read_next": 0, "Innodb_os_log_written": 1024}


def test_figures(step: Path) -> None:
    sizes = {"data_bytes": 16384.0, "index_bytes": 0.0}
    grown = server.counters(step)
    assert server.figures(step, grown, None) == sizes
    assert server.figures(step, grown, 50) == {**sizes, "rows_read_per_op": 2.0, "log_bytes_per_op": 20.48}


def test_a_step_without_a_server(tmp_path: Path) -> None:
    assert server.counters(tmp_path) == {}
    assert server.figures(tmp_path, {}, 50) == {}


def test_every_figure_is_a_metric() -> None:
    from stepgrid.plugins.metrics import METRICS
    from stepgrid.plugins.server_statistics import DATA, INDEX

    assert {*server.PER_OPERATION, DATA, INDEX} <= set(METRICS)
