from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats

from stepgrid.model.plan import Plan
from stepgrid.plan import estimate, plan_file
from stepgrid.store import plans

Compile = Callable[..., Plan]

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 7.8.3, source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 60s}
params: {keys: 200k}
sweep: {cache: {option: cache_size, values: [1, 2, 3], from: loaded}}
repeat: 2
"""


def test_sharing_saves_the_loads_that_cells_have_in_common(compile_text: Compile) -> None:
    plan = compile_text(SPEC)
    each = {stage.id: 100.0 if stage.parent is None else 60.0 for stage in plan.stages}
    assert estimate.saved_seconds(plan, each) == 2 * 2 * 100.0  # of three cells, twice, one load runs


def test_stages_of_other_options_have_the_same_shape(compile_text: Compile, tmp_path: Path) -> None:
    plan = compile_text(SPEC)
    plans.write(plan, tmp_path / "plan")
    for stages in (plan.stages, plan_file.outline(tmp_path / "plan").stages):
        assert len({estimate.shape(stage) for stage in stages if stage.parent is None}) == 1
        assert len({estimate.shape(stage) for stage in stages}) == 2


def test_no_repeats_no_power(compile_text: Compile) -> None:
    assert estimate.estimate_power({"readww": [[100.0], [120.0]]}, compile_text(SPEC), 100.0) is None
    assert estimate.estimate_power({}, compile_text(SPEC), 100.0) is None


def test_the_noisiest_step_decides(compile_text: Compile) -> None:
    figures = {"readww": [[100.0, 102.0], [200.0, 204.0]], "quiet": [[100.0, 100.1]]}
    found = estimate.estimate_power(figures, compile_text(SPEC), 1000.0)
    assert found is not None
    spread = math.log(1.02) / math.sqrt(2)
    assert (found.step, found.spread) == ("readww", pytest.approx(spread))
    assert found.loads == estimate.needed_loads(spread, 0.03) == 6
    assert found.seconds == 1000.0 / 2 * 6
    assert found.verdict == estimate.needed_loads(spread, 0.03, 0.02) == 35


def test_no_number_of_loads_gives_a_verdict_of_what_counts_as_the_same(compile_text: Compile) -> None:
    plan = compile_text(SPEC + "report: {smallest_effect: 0.03}\n")
    found = estimate.estimate_power({"readww": [[100.0, 102.0]]}, plan, None)
    assert found is not None
    assert found.verdict is None


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.05, 0.1])
def test_it_is_what_the_noncentral_t_says(spread: float) -> None:
    def power(loads: int) -> float:
        edge = stats.t.ppf(0.975, loads - 1)
        return float(stats.nct.sf(edge, loads - 1, math.log(1.03) / (spread * math.sqrt(2 / loads))))

    loads = estimate.needed_loads(spread, 0.03)
    assert power(loads) >= 0.75
    assert loads == 2 or power(loads - 2) < 0.8


def test_a_cell_of_which_a_load_did_nothing_tells_no_noise(compile_text: Compile) -> None:
    """Without its 0 it would be the quietest."""
    plan = compile_text(SPEC)
    noisy, idle = [100.0, 110.0, 95.0], [0.0, 100.0, 100.0]
    assert estimate.estimate_power({"readww": [noisy, idle]}, plan, None) == estimate.estimate_power(
        {"readww": [noisy]}, plan, None
    )
