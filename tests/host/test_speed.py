"""The host's own speed: real measurements, once a day, beside the host lock."""

import json
import time

import pytest

from stepgrid.host import speed
from stepgrid.host.speed import SPEEDS, host_speed, recorded_speed, speed_path


def test_measured_once_a_day_for_real(tmp_path, monkeypatch):
    lock = tmp_path / "lock"
    assert recorded_speed(tmp_path, lock) is None
    figures = host_speed(tmp_path, lock)
    assert figures.keys() == SPEEDS.keys()
    assert 1 < figures["fsync_us"] < 1e6
    assert 0.05 < figures["memory_gib_per_s"] < 2000
    assert 500 < figures["clock_mhz"] < 7000
    assert sorted(path.name for path in tmp_path.iterdir()) == [speed_path(lock).name]
    monkeypatch.setattr(speed, "_measure", lambda folder: {"clock_mhz": 1.0})
    assert host_speed(tmp_path, lock) == recorded_speed(tmp_path, lock) == figures
    tomorrow = time.time() + speed.DAY
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    assert recorded_speed(tmp_path, lock) is None
    assert host_speed(tmp_path, lock) == {"clock_mhz": 1.0}


@pytest.mark.parametrize("damage", ["", "[]", '{"volumes": {"/": 1}}', '{"boot": "another", "volumes": {}}'])
def test_a_record_that_is_damaged_or_of_an_earlier_start_is_measured_again(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(speed, "_measure", lambda folder: {"clock_mhz": 2.0})
    speed_path(tmp_path / "lock").write_text(damage)
    assert host_speed(tmp_path, tmp_path / "lock") == {"clock_mhz": 2.0}
    assert recorded_speed(tmp_path, tmp_path / "lock") == {"clock_mhz": 2.0}


def test_a_folder_that_cannot_be_written_costs_the_figure_alone(tmp_path, capfd):
    speed.main(str(tmp_path / "none"))
    assert json.loads(capfd.readouterr().out).keys() == {"memory_gib_per_s", "clock_mhz"}


def test_measured_stages_of_a_day_have_the_same_figures(checkout, stage, step):
    checkout.plan(stage("s-load", step("load")), stage("s-again", step("load")))
    hosts = []
    for name in ("s-load", "s-again"):
        assert checkout.run(name, STEPGRID_LOOK="0.05").returncode == 0
        hosts.append({key: checkout.attempt(name)["host"][key] for key in SPEEDS})
    assert hosts[0] == hosts[1]
