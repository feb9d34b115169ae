"""What the running step makes the host do, by its newest two samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stepgrid.cli.watch import HostLoad
from stepgrid.collect.samples import NAME


def sample(second: float, **more: Any) -> str:
    cpu = {"user": second / 2, "system": second / 4, "idle": second / 4}
    return json.dumps({"monotonic": second, "cpu": cpu, **more}) + "\n"


def disk(sectors: int) -> dict[str, Any]:
    return {"device": "vda", "devices": {"vda": {"read_sectors": sectors}}}


def test_rates_of_the_newest_second_and_only_those_that_can_be_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("".join([sample(1.0), sample(2.0, **disk(0)), sample(3.0, **disk(4096))]))
    assert HostLoad().rates(tmp_path) == {
        "device_read_mb_per_s": 2.0,
        "host_cpu_user_pct": 50.0,
        "host_cpu_system_pct": 25.0,
    }


def test_one_sample_tells_nothing_yet(tmp_path: Path) -> None:
    load = HostLoad()
    assert load.rates(tmp_path) == {}
    (tmp_path / NAME).write_text(sample(1.0))
    assert load.rates(tmp_path) == {}
