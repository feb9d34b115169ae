"""Looks at a server's state, as the collector writes them, and the events that they are."""

import json
import math

from stepgrid_databases.collectors.engine_state import COLLECTOR


def test_looks_that_follow_each_other_and_met_one_state_are_one_event(tmp_path):
    values = [9, 9, 1, 1, 9, 1, 9]
    looks = [
        {"t": float(second), "states": {"redo pressure": {"value": value, "most": 5.0}}, "debts": {"age": value}}
        for second, value in enumerate(values, 101)
    ]
    lines = [json.dumps(look) for look in looks]
    (tmp_path / "stdout").write_text("\n".join([*lines, '{"t": 108, "sta']))
    found = [(event.began, event.seconds) for event in COLLECTOR.events(tmp_path)]
    assert found == [(0.0, 102.0), (104.0, 1.0), (106.0, math.inf)], "from the look before, to the last that met it"
    assert [*COLLECTOR.events(tmp_path / "none")] == []
    assert COLLECTOR.debts(tmp_path) == {"age": [(float(second), value) for second, value in enumerate(values, 101)]}
