from __future__ import annotations

from stepgrid.host.files import json_records


def test_what_is_damaged_or_something_else_is_left_out() -> None:
    texts = ['{"event": "a"}', '{"event": "b', "", "[1]", "7", '{"other": 1}', '{"event": null}', "vent: 1}"]
    assert list(json_records(texts, "event")) == [{"event": "a"}, {"event": None}]
