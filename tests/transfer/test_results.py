"""What a record says of its host has the same name in all exports of a machine."""

import json
from pathlib import Path

from stepgrid.host.facts import pseudonym
from stepgrid.transfer.results import hide_host


def test_the_node_of_a_cluster_is_not_named(tmp_path: Path) -> None:
    record = tmp_path / "attempt.json"
    record.write_text(json.dumps({"hostname": "n1.lab", "cluster_node": "n1", "host": {"hostname": "n1.lab"}}))
    name = "results/s-1/20260101T000000.000000Z/attempt.json"
    made = hide_host({name: (tmp_path, record)}, tmp_path / "copies")[name][1]
    assert json.loads(made.read_text()) == {
        "hostname": pseudonym("n1.lab"),
        "cluster_node": pseudonym("n1"),
        "host": {"hostname": pseudonym("n1.lab")},
    }
