from bench.confirm import Row, row


def test_a_clear_slowdown_is_confirmed():
    assert row(5, 20, 80) == Row(1.0, 1.0)


def test_what_holds_is_hardly_suspected():
    assert row(3, 0, 160) == Row(0.0, 0.0)


def test_a_false_alarm_is_hardly_confirmed():
    """At the edge of the claim 1 in 40 is suspected, and 1 in 40 of these confirmed."""
    found = row(3, 5, 1600)
    assert 0.005 < found.suspected < 0.06
    assert found.confirmed <= 4 / 1600
