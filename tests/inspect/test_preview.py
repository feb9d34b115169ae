"""What a preview adds up: what sharing saves, and the loads that a difference needs."""

import math

import pytest

from stepgrid.model.plan import PlannedReport
from stepgrid.model.records import replace
from stepgrid_inspect.preview import Power, estimate_power, needed_loads, saved_seconds

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


def test_sharing_saves_the_loads_that_cells_have_in_common(compile_text):
    plan = compile_text(SPEC)
    each = {stage.id: 100.0 if stage.parent is None else 60.0 for stage in plan.stages}
    assert saved_seconds(plan, each) == 2 * 2 * 100.0  # of three cells, twice, one load runs


def test_the_noisiest_step_decides(compile_text):
    figures = {"readww": [[100.0, 102.0], [200.0, 204.0]], "quiet": [[100.0, 100.1]]}
    plan, spread = compile_text(SPEC), math.log(1.02) / math.sqrt(2)
    power = estimate_power(figures, plan, 1000.0)
    loads, verdict = needed_loads(spread, 0.03), needed_loads(spread, 0.03, 0.02)
    assert (loads, verdict) == (6, 35)
    assert power == Power("readww", pytest.approx(spread), loads, 1000.0 / 2 * loads, verdict)
    # no number of loads gives a verdict of what counts as the same
    same = replace(plan, report=PlannedReport(smallest_effect=0.03))
    assert estimate_power(figures, same, None) == Power("readww", pytest.approx(spread), loads, None, None)


def test_what_was_not_repeated_or_did_nothing_tells_no_noise(compile_text):
    """Without its 0 the idle cell would be the quietest."""
    plan = compile_text(SPEC)
    assert estimate_power({"readww": [[100.0], [120.0]]}, plan, 100.0) is estimate_power({}, plan, 100.0) is None
    noisy, idle = [100.0, 110.0, 95.0], [0.0, 100.0, 100.0]
    assert estimate_power({"s": [noisy, idle]}, plan, None) == estimate_power({"s": [noisy]}, plan, None)


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.05, 0.1])
def test_it_is_what_the_noncentral_t_says(spread):
    from scipy import stats

    def power(loads):
        edge = stats.t.ppf(0.975, loads - 1)
        return float(stats.nct.sf(edge, loads - 1, math.log(1.03) / (spread * math.sqrt(2 / loads))))

    loads = needed_loads(spread, 0.03)
    assert power(loads) >= 0.75
    assert loads == 2 or power(loads - 2) < 0.8
