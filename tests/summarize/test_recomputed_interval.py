"""Intervals recomputed from the loads by the formulas of docs/concepts/statistics.md, without the report's code."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from stepgrid.collect.job import collect
from stepgrid.model import units
from stepgrid.summarize.report_files import read_report
from stepgrid_page import json_document
from tests.summarize.scenario import NEW
from tests.summarize.synthetic import Experiment

FLOOR = 0.0025**2


@pytest.mark.parametrize("loads", [3, 5])
def test_the_intervals_of_a_report_follow_from_its_ratios(tmp_path: Path, loads: int) -> None:
    ratios = _report(tmp_path, loads)
    assert len(ratios) == 12
    for entry, (low, high) in zip(ratios, _recompute([_logs(entry) for entry in ratios], _tables(ratios)), strict=True):
        as_shown = units.ratio_with_interval(entry["ratio"], *entry["interval"])
        assert units.ratio_with_interval(entry["ratio"], low, high) == as_shown
        assert entry["interval"] == pytest.approx([low, high], rel=2e-3)


def _report(root: Path, loads: int) -> list[dict[str, Any]]:
    """Three arms and a base at two points of two steps, with a noise of 2 %; one arm is far noisier at one point."""
    chance = random.Random(3)
    found = Experiment(root, caches=("lru", "hyper", "auto", "none"), loads=loads)
    found.add_build(NEW)
    for load in range(loads):
        found.add_load(NEW, load)
        for cache in found.caches:
            for threads in found.threads:
                noise = 0.4 if (cache, threads) == ("none", "2") else 0.02
                rates = {step: round(1e6 * math.exp(chance.gauss(0, noise))) for step in ("readww", "overwrite")}
                found.add(NEW, cache, threads, load, rates)
    collect(found.store, found.plan)
    document = json.loads(json_document.report_json(read_report(found.store, found.plan.digest)))
    return [entry for entry in document["comparisons"] if entry["metric"] == "qps"]


def _logs(entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.log(entry["ratios"])


def _tables(ratios: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Name the table (step) of each ratio, and its base (step and point)."""
    return [(entry["step"], f"{entry['step']} {entry['point']}") for entry in ratios]


def _recompute(logs: list[Any], places: list[tuple[str, str]]) -> list[tuple[float, float]]:
    count, d = len(logs), len(logs[0]) - 1
    table, base = ([place[at] for place in places] for at in (0, 1))
    variance = np.maximum([row.var(ddof=1) for row in logs], FLOOR)
    # outliers do not take part
    middle = stats.chi2.isf(0.5, d) / d
    medians = {name: np.median([v for v, t in zip(variance, table, strict=True) if t == name]) for name in set(table)}
    usual = np.array(
        [stats.chi2.sf(d * v / (medians[t] / middle), d) > 0.002 for v, t in zip(variance, table, strict=True)]
    )
    for name in set(table):
        assert any(u for u, t in zip(usual, table, strict=True) if t == name)
    # correlation of the ratios to one base
    shared = np.empty(count)
    for name in set(base):
        members = [at for at in range(count) if base[at] == name]
        covariance = np.cov([logs[at] for at in members])
        off = covariance.sum() - np.trace(covariance)
        shared[members] = np.clip(off / np.trace(covariance) / (len(members) - 1), 0.5, 1) ** 2
    weight = np.array(
        [
            usual[at]
            * d
            / (1 + max(sum(usual[other] for other in range(count) if base[other] == base[at]) - 2, 0) * shared[at])
            for at in range(count)
        ]
    )
    # the typical variance of the tables
    means, freedoms = [], []
    for name in dict.fromkeys(table):
        part = [at for at in range(count) if table[at] == name]
        freedoms.append(weight[part].sum())
        means.append((weight[part] * variance[part]).sum() / freedoms[-1])
    half = np.array(freedoms) / 2
    unbiased, error = np.log(means) - special.digamma(half) + np.log(half), special.polygamma(1, half)
    spread = max(unbiased.var(ddof=1) - error.mean(), 0)
    typical_half = min(_trigamma_inverse(spread), sum(freedoms) / 2)
    typical = math.exp(unbiased.mean() + special.digamma(typical_half) - math.log(typical_half))
    # how alike the comparisons of a table are
    usual_at = np.flatnonzero(usual)
    own = np.log(variance) - special.digamma(d / 2) + math.log(d / 2)
    scatter = chance = 0.0
    for name in set(table):
        part = [at for at in usual_at if table[at] == name]
        scatter += ((own[part] - own[part].mean()) ** 2).sum()
        chance += len(part) * special.polygamma(1, d / 2) * (1 - 1 / len(part))
    likeness = 2 * _trigamma_inverse(max((scatter - chance) / (len(usual_at) - len(set(table))), 0))
    outliers = max(count - usual.sum() - 1 - 0.004 * count, 0) / count
    deviations, freedoms_of, common = np.empty(count), np.empty(count), np.empty(count)
    for at in range(count):
        total, evidence = 2 * typical_half * typical, 2 * typical_half
        for other in range(count):
            if other != at and table[other] == table[at]:
                news = (1 - shared[at]) / 0.75 if base[other] == base[at] else 1
                total, evidence = total + news * weight[other] * variance[other], evidence + news * weight[other]
        expected, own_weight = total / evidence, 1 / (1 / likeness + 1 / evidence)
        limit = min(0.05 * (1 + (4.5 / evidence) ** 3) + min(20 * outliers, 0.6), 0.8) if d > 1 else 0.8
        if stats.f.sf(variance[at] / expected, d, own_weight) < limit:
            own_weight = 0.0
        freedoms_of[at] = own_weight + d
        deviations[at] = math.sqrt((own_weight * expected + d * variance[at]) / freedoms_of[at])
        common[at] = own_weight**2 / (evidence * freedoms_of[at])
    intervals = []
    for at in range(count):
        bases = [place for place in dict.fromkeys(base) if place.startswith(table[at])]
        arms = [base.count(place) for place in bases]
        ends = [_dunnett(arms, freedoms_of[at], is_common) for is_common in (False, True)]
        reach = (ends[0] + common[at] * (ends[1] - ends[0])) * deviations[at] / math.sqrt(d + 1)
        intervals.append((math.exp(logs[at].mean() - reach), math.exp(logs[at].mean() + reach)))
    return intervals


def _trigamma_inverse(value: float) -> float:
    if value <= special.polygamma(1, 5e4):
        return 5e4
    return float(optimize.brentq(lambda half: special.polygamma(1, half) - value, 5e-4, 5e4))


def _dunnett(arms: list[int], freedom: float, is_common: bool) -> float:
    """Find the critical value: normal errors of arms and bases, and one error of the variance for all or for each."""
    nodes, weights = np.polynomial.legendre.leggauss(96)
    scales = np.sqrt(stats.chi2.ppf((nodes + 1) / 2, freedom) / freedom)
    errors = np.linspace(-8, 8, 161)
    density = stats.norm.pdf(errors)

    def missing(reach: float) -> float:
        ends = (np.outer(scales, [reach]) - errors / math.sqrt(2)) * math.sqrt(2)
        low = (-np.outer(scales, [reach]) - errors / math.sqrt(2)) * math.sqrt(2)
        one = stats.norm.cdf(ends) - stats.norm.cdf(low)
        if not is_common:
            one = (weights / 2 @ one)[None, :]
        joint = np.prod([integrate.trapezoid(one**size * density, errors, axis=1) for size in arms], axis=0)
        return float((weights / 2 @ joint) if is_common else joint[0]) - 0.95

    return float(optimize.brentq(missing, 0.5, 60))
