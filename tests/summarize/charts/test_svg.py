"""Charts of one shape are compiled once: what is drawn is what Vega-Lite draws of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import vl_convert

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
