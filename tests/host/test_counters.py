"""Counters and sensors, in a /sys and a /proc written by hand."""

import pytest

from stepgrid.host import sysfs
from stepgrid.host.counters import EnergyMeter, Sensors


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    return tmp_path


def _write(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


def _cpu(root, number, khz, slowed, package, package_slowed):
    about = f"sys__devices__system__cpu__cpu{number}"
    _write(root, **{f"{about}__cpufreq__scaling_cur_freq": str(khz)})
    _write(root, **{f"{about}__thermal_throttle__core_throttle_count": str(slowed)})
    _write(root, **{f"{about}__thermal_throttle__package_throttle_count": str(package_slowed)})
    _write(root, **{f"{about}__topology__physical_package_id": str(package)})


def test_cores_have_a_speed_each_and_a_package_counts_once(root):
    for number, (khz, slowed, package) in enumerate([(3_000_000, 1, 0), (2_000_000, 0, 0), (1_000_000, 2, 1)]):
        _cpu(root, number, khz, slowed, package, 10)
    assert Sensors().read() == {"mhz": 2000.0, "throttles": 1 + 0 + 2 + 10 + 10}


def test_the_hottest_of_the_processors_counts_and_no_other_part(root):
    _write(
        root, sys__class__thermal__thermal_zone0__type="x86_pkg_temp", sys__class__thermal__thermal_zone0__temp="61000"
    )
    _write(root, sys__class__thermal__thermal_zone1__type="acpitz", sys__class__thermal__thermal_zone1__temp="99000")
    _write(root, sys__class__hwmon__hwmon3__name="k10temp", sys__class__hwmon__hwmon3__temp1_input="62500")
    _write(root, sys__class__hwmon__hwmon4__name="nvme", sys__class__hwmon__hwmon4__temp1_input="80000")
    assert Sensors().read() == {"celsius": 62.5}


def test_energy_is_that_of_the_packages_and_goes_on_where_a_counter_begins_again(root):
    assert EnergyMeter().read() == {}
    zones = {"intel-rapl:0": "package-0", "intel-rapl:1": "package-1", "intel-rapl:0:0": "core", "intel-rapl:2": "psys"}
    for zone, name in zones.items():
        folder = f"sys__class__powercap__{zone}"
        _write(root, **{f"{folder}__name": name, f"{folder}__max_energy_range_uj": "9999999"})
        _write(root, **{f"{folder}__energy_uj": "9000000"})
    meter = EnergyMeter()
    _write(root, **{"sys__class__powercap__intel-rapl:0__energy_uj": "9500000"})
    assert meter.read() == {"joules": 0.5}
    _write(root, **{"sys__class__powercap__intel-rapl:1__energy_uj": "1000000"})
    assert meter.read() == {"joules": 2.5}
