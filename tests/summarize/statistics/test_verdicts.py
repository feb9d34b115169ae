"""Words of intervals, when a comparison is decided, and how many loads it needs."""

import math
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bench import verdicts_rows
from stepgrid.model.plan import MOST_LOADS
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval
from tests import cases

OPPOSITE = {"faster": "slower", "slower": "faster", **{word: word for word in ("same", "different", "undecided")}}
RULE, WIDTH = verdicts.StoppingRule(0.02), verdicts.StoppingRule(0.02, 0.02)
SERIES = Interval(1.0, 0.9, 1.1, 1)


def interval(ratio, error, loads=3, freedom=20.0, critical=2.5):
    low, high = (ratio * math.exp(sign * critical * error) for sign in (-1, 1))
    return Interval(ratio, low, high, loads, (), error * math.sqrt(loads), freedom, critical)


def reaching(ratio, reach, loads=3):
    """`reach`: of its upper end, relative."""
    return interval(ratio, math.log1p(reach) / 4.3, loads, 2.0, 4.3)


@pytest.mark.parametrize(("low", "high", "word"), cases.rows(__file__, "the_whole_interval_decides"))
def test_the_whole_interval_decides(low, high, word):
    assert verdicts.verdict(low, high, 0.02) == word


@given(st.floats(0.1, 10), st.floats(1, 3), st.floats(0, 0.2))
def test_exchanging_the_arms_exchanges_the_word(low, width, effect):
    forth, back = verdicts.verdict(low, low * width, effect), verdicts.verdict(1 / (low * width), 1 / low, effect)
    margin = 1 + effect
    on_the_edge = any(abs(end * side - 1) < 1e-9 for end in (low, low * width) for side in (margin, 1 / margin))
    assert on_the_edge or back == OPPOSITE[forth]


def test_a_verdict_or_a_width_decides():
    assert verdicts.is_decided(interval(1.05, 0.01), RULE)
    assert not verdicts.is_decided(interval(1.02, 0.01), RULE)
    assert verdicts.is_decided(interval(1.0, 0.005), RULE)
    assert verdicts.is_decided(interval(1.02, 0.007), WIDTH)
    assert not verdicts.is_decided(interval(1.02, 0.009), WIDTH)


@pytest.mark.parametrize(
    ("found", "most", "rule", "least", "highest"),
    [
        (interval(1.02, 0.004, loads=8), 12, RULE, 0, verdicts.HOPELESS),  # at the edge more loads hardly decide
        (interval(1.02, 0.006), 100, RULE, verdicts.HOPELESS, 1),  # the mean may still move
        (interval(1.0, 0.05, loads=6), 12, RULE, 0, verdicts.HOPELESS),
        (interval(1.3, 0.05, loads=6), 12, RULE, 0.9, 1),
        (interval(1.0, 0.05), 12, RULE, verdicts.HOPELESS, 1),
        (interval(1.05, 0.008, freedom=2, critical=8.4), 12, RULE, 0.5, 1),  # few degrees of freedom are more later
        (interval(1.0, 0.012), 12, WIDTH, 0.9, 1),
        (interval(1.0, 0.05), 12, WIDTH, 0, verdicts.HOPELESS),
        (SERIES, 12, RULE, 1, 1),
    ],
)
def test_chance_of_decision(found, most, rule, least, highest):
    assert least <= verdicts.chance_of_decision(found, most, rule) <= highest


@example(1.06, 0.02, 12, 2.0)
@given(st.floats(0.9, 1.1), st.floats(0.001, 0.05), st.integers(2, 12), st.floats(2, 40))
def test_without_another_load_the_chance_is_whether_it_is_decided(ratio, error, loads, freedom):
    found = interval(ratio, error, loads, freedom)
    ends = (found.low / 1.02, found.high / 1.02, found.low * 1.02, found.high * 1.02)
    assume(all(abs(end - 1) > 1e-9 for end in ends))
    assert verdicts.chance_of_decision(found, loads, RULE) == verdicts.is_decided(found, RULE)


def test_noisier_intervals_need_more_loads():
    ranges = [verdicts.needed_loads([reaching(1.0, reach)]).text for reach in (0.02, 0.05, 0.1, 0.2, 0.4, 1.0)]
    assert ranges == ["3 to 6", "4 to 19", "6 to 64", "13 to over 100", "38 to over 100", "over 100"]
    near, far = reaching(1.01, 0.05), reaching(1.0, 1.0)
    assert verdicts.middle_reach([near, far, reaching(1.02, 0.3)]) == pytest.approx(0.3)
    assert verdicts.needed_loads([near, near, far]) == verdicts.needed_loads([near]), "half of them count"
    assert verdicts.needed_loads([near, far, far]) == (None, None)
    assert verdicts.needed_loads([]) == (None, None)
    assert verdicts.needed_loads([reaching(1.01, 0.05, MOST_LOADS)]) == (None, None)


def test_neither_the_noise_floor_nor_one_load_is_too_wide():
    floor, wide = reaching(1.5, 0.1), reaching(1.01, 0.05)
    assert verdicts.too_wide([floor, SERIES, wide], 0.02) == [wide]


PAGE = Path(__file__).resolve().parents[3] / "docs/concepts/error-rates.md"
TABLES, MOST_ARMS = 320, 4
WRONG, POWER = 0.03, 0.12  # how far so few tables may be from the page: shares of tables, and of comparisons


def rows():
    """Read kind of noise, loads, arms and shares from the first table of the page."""
    text = PAGE.read_text(encoding="utf-8").split("\n## ")[1]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [
        (kind, *map(int, size.split(", ")), verdicts_rows.Row(*(float(share) / 100 for share in shares)))
        for kind, size, *shares in cells[2:]
    ]


SMALL = [pytest.param(*row, id="-".join(map(str, row[:3]))) for row in rows() if row[2] <= MOST_ARMS]


@pytest.mark.parametrize(("kind", "loads", "arms", "promised"), SMALL)
def test_verdicts_are_as_often_wrong_and_find_as_much_as_the_page_says(kind, loads, arms, promised):
    row = verdicts_rows.row(kind, loads, arms, TABLES)
    assert row.different <= promised.different + WRONG
    assert row.beyond <= promised.beyond + WRONG
    assert row.covered >= promised.covered - WRONG
    assert row.same == pytest.approx(promised.same, abs=POWER)
    assert row.found == pytest.approx(promised.found, abs=POWER)
