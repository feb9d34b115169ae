from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable

import pytest

from compiler.plan import estimate
from compiler.plan.model import Plan

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
    assert estimate.saved(plan, each) == 2 * 2 * 100.0  # of three cells, twice, one load runs


def test_past_runs_of_the_same_shape_say_more_than_the_declaration(compile_text: Compile) -> None:
    plan = compile_text(SPEC)
    reads = [stage for stage in plan.stages if stage.parent is not None]
    assert len({estimate.shape(stage) for stage in reads}) == 1
    assert estimate.seconds(reads[0], {estimate.shape(reads[1]): [70.0, 62.0, 64.0]}) == 64.0
    assert estimate.seconds(reads[0], {}) == 60.0


def test_no_repeats_no_power(compile_text: Compile) -> None:
    assert estimate.power({"readww": [[100.0], [120.0]]}, compile_text(SPEC), 100.0) is None
    assert estimate.power({}, compile_text(SPEC), 100.0) is None


def test_the_noisiest_step_decides(compile_text: Compile) -> None:
    figures = {"readww": [[100.0, 102.0], [200.0, 204.0]], "quiet": [[100.0, 100.1]]}
    found = estimate.power(figures, compile_text(SPEC), 1000.0)
    assert found is not None
    spread = math.log(1.02) / math.sqrt(2)
    assert (found.step, found.spread) == ("readww", pytest.approx(spread))
    assert found.loads == estimate.needed(spread, 0.03) == 5
    assert found.seconds == 1000.0 / 2 * 5


def test_that_many_loads_find_four_of_five_differences() -> None:
    chance, spread = random.Random(7), 0.02
    loads = estimate.needed(spread, 0.03)
    quantile = {9: 2.120, 8: 2.145, 10: 2.101}[loads]  # of Student's t with 2 loads - 2 degrees of freedom
    seen = 0
    for _ in range(2000):
        one = [chance.gauss(0, spread) for _ in range(loads)]
        other = [chance.gauss(math.log(1.03), spread) for _ in range(loads)]
        error = math.sqrt((statistics.variance(one) + statistics.variance(other)) / loads)
        seen += abs(statistics.fmean(other) - statistics.fmean(one)) / error > quantile
    assert 0.77 < seen / 2000 < 0.87
