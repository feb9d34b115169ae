"""Metrics that a spec computes of others, and the cost of operations."""

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import DerivedMetric
from stepgrid.plan.expectations import Fields, derived_figures


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e9))
def test_the_cost_is_the_price_of_the_time_that_a_million_takes(price, qps):
    figures = derived_figures((), {"qps": qps, "hardware": Fields({"price": price})})
    assert abs(figures["cost_per_m_ops"] * qps * 3600 / 1e6 - price) < 1e-9 * price


def test_what_has_no_value_is_missing():
    formulas = {
        "double": "qps * 2",
        "four": "double * 2",
        "none": "p99_us + 1",
        "zero": "1 / (qps - qps)",
        "yes": "qps > 1",
    }
    metrics = [DerivedMetric(name, formula) for name, formula in formulas.items()]
    assert derived_figures(metrics, {"qps": 0.0, "hardware": Fields({"price": 1.0})}) == {"double": 0.0, "four": 0.0}
    assert derived_figures(metrics, {"qps": 3.0, "hardware": Fields({})}) == {"double": 6.0, "four": 12.0}
