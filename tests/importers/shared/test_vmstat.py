from __future__ import annotations

from pathlib import Path

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import vmstat
from tests.importers.made import VMSTAT

PATH = Path("sb.vm")


def parsed(text: str) -> tuple[vmstat.Vmstat, list[str]]:
    faults = Faults()
    return vmstat.parse(text, PATH, faults), list(map(str, faults))


def test_published_means_count_banners_and_the_mean_since_the_start() -> None:
    found, wrong = parsed(VMSTAT)
    assert wrong == []
    assert vmstat.published(found) == vmstat.VmstatMeans(4, 150.0, (26 + 60 + 80) / 4)


def test_clean_means_are_of_the_seconds() -> None:
    found = parsed(VMSTAT)[0]
    assert vmstat.clean(found) == vmstat.VmstatMeans(2, 300.0, 70.0)
    assert vmstat.figures(found) == {
        "host_cpu_user_pct": 45.0,
        "host_cpu_system_pct": 25.0,
        "host_cpu_idle_pct": 30.0,
        "host_cpu_iowait_pct": 0.0,
        "host_cpu_steal_pct": 0.0,
        "context_switches_per_s": 300.0,
    }


def test_a_time_has_two_words(samples: Path) -> None:
    found, wrong = parsed((samples / "engines" / "vmstat-wt.txt").read_text(encoding="utf-8"))
    assert (wrong, found.banners) == ([], 1)
    assert found.clean[0]["cs"] == 600.0


def test_what_is_no_vmstat_is_told() -> None:
    assert parsed(VMSTAT.replace("  400 50 30", "  400 50 xx"))[1] == [
        "sb.vm:7: figures were expected here, as the head above names them\n"
        "  |  6  0      0   3068      4   1260    0    0    31    40    0  400 50 xx 20  0  0"
    ]
    assert parsed("")[1] == ["sb.vm: vmstat was expected: at least two lines of figures below cs, us, sy, id, wa"]
