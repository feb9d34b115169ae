"""Charts of one shape are compiled once: what is drawn is what Vega-Lite draws of each."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.charts import vega
from stepgrid.summarize.charts.svg import drawn, svg


def over_time(factor: int, count: int, loads: tuple[str, ...] = ("1.0",)) -> vega.Chart:
    rows = [{"second": float(at), "qps": 50_000.0 + at * factor, "load": load} for at in range(count) for load in loads]
    return vega.over_time(rows, loads, float(count), 60_000.0)


@pytest.mark.parametrize(
    "chart",
    [
        over_time(3, 30),
        over_time(7, 30),
        over_time(7, 1),
        over_time(7, 0),
        over_time(2, 100, ("1.0", "2.0")),
        vega.ratios([{"line": "a", "arm": "b", "ratio": 1.2, "judged": True}], ["a"], ["b"], 0.03),
    ],
)
def test_as_vega_lite_draws_it(chart: Mapping[str, Any]) -> None:
    found = svg(chart, "c", "label", drawn)
    plain = vl_convert.vegalite_to_svg(dict(chart), allowed_base_urls=[])
    assert found.count("<path") == plain.count("<path") > 0
    assert [part.split('"')[0] for part in found.split(' d="')[1:]] == [
        part.split('"')[0] for part in plain.split(' d="')[1:]
    ]


@given(st.lists(st.floats(-600, 600).map(lambda power: math.exp(power)), min_size=3, max_size=3), st.booleans())
def test_ratios_of_any_size_have_an_axis(ends: list[float], has_ends: bool) -> None:
    low, ratio, high = sorted(ends)
    row = {"line": "a", "arm": "b", "ratio": ratio, "judged": True, **({"low": low, "high": high} if has_ends else {})}
    chart = json.loads(json.dumps(vega.ratios([row], ["a"], ["b"], 0.02), allow_nan=False))
    first, last = chart["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert 0 < first < 1 < last


@pytest.mark.parametrize("ratio", [1e300, 1e-300])
def test_a_ratio_that_no_axis_can_hold_is_drawn(ratio: float) -> None:
    row = {"line": "a", "arm": "b", "ratio": ratio, "judged": True}
    assert svg(vega.ratios([row], ["a"], ["b"], 0.02), "c", "label", drawn).count("<path") > 1
