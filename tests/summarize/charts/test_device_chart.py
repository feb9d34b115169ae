"""QPS, stalls and the device over the same seconds: from the samples of a result to the page."""

from __future__ import annotations

import json
import re

import pytest

from stepgrid.summarize.charts import device_chart
from stepgrid.summarize.data.device_seconds import DeviceSecond, DeviceSeconds
from stepgrid.summarize.page.html import page
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"
RATES = [1000.0, 1000.0, 20.0, 1000.0, 1000.0, 1000.0]
READS = (10, 10, 0, 30, 10, 10)  # MiB of each second


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two arms; only that of lru has samples of its device, in one step."""
    found = Experiment(tmp_path_factory.mktemp("device"), threads=("1",), loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    for cache in found.caches:
        result = found.add(BUILD, cache, "1", 0, {"readww": RATES, "overwrite": RATES})
        if cache == "lru":
            (result / "steps/0-readww/samples.jsonl").write_text("".join(map(sample, range(7))))
            found.seal(result)
    return scenario.report(found)


def sample(second: int) -> str:
    sectors = 2048 * sum(READS[:second])
    counts = {"reads": second, "read_sectors": sectors, "writes": second, "write_sectors": 4096 * second}
    device = {**counts, "busy_ms": 500 * second, "read_ms": second, "write_ms": second}
    return json.dumps({"monotonic": 100.0 + second, "device": "vda", "devices": {"vda": device}}) + "\n"


def test_the_seconds_of_the_device(report: Report) -> None:
    (readww, _) = (section for section in report.sections if section.step != "fillseq")
    places = [run.place for point in readww.points for run in point.runs]
    (found,) = report.device.of(places).values()
    assert [each.read for each in found] == pytest.approx(READS[: len(found)])
    assert found[0] == DeviceSecond(1.0, pytest.approx(10), pytest.approx(2), pytest.approx(50))
    assert DeviceSeconds().of(places) == {}


def test_a_chart_for_each_arm_that_has_both(report: Report) -> None:
    pictures = {section.step: device_chart.pictures(report, section) for section in report.sections}
    assert {step: [each.title for each in found] for step, found in pictures.items()} == {
        "fillseq": [],
        "readww": ["cache=lru"],
        "overwrite": [],
    }
    (chart,) = pictures["readww"]
    assert 'aria-label="readww, cache=lru: QPS, stalls and the device over time"' in chart.svg
    assert chart.svg.count(device_chart.STALL) == 1, "of a second that had a fiftieth of the others"
    assert re.findall(r">(QPS|MiB/s|busy %|seconds|read|written)</text>", chart.svg) == [
        "seconds", "QPS", "MiB/s", "busy %", "read", "written",
    ]  # fmt: skip
    assert chart.svg in page(report)


def test_long_runs_are_means() -> None:
    seconds = [(float(at), 1000.0) for at in range(1, 1801)]
    drawn = device_chart._drawn("t", device_chart._Arm("a", seconds, [DeviceSecond(at, 1, 2, 3) for at, _ in seconds]))
    assert len(drawn) < 10_000
