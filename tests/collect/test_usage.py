"""Samples and statistics of a step as data, and the figures that come of them.

usage.yaml has samples and the record of a step, perhaps with the window in which it was measured; server.yaml what a
server told before and after it. A figure of which something is missing is missing.
"""

import json
from pathlib import Path

import pytest
from msgspec.structs import asdict

from stepgrid.collect import counts
from stepgrid.collect.samples import Usage, read_samples, series
from stepgrid.host import files
from stepgrid.model.records import StepRecord
from stepgrid.plugins.metrics import METRICS
from tests.cases import cases, write_files

HERE = Path(__file__).parent


def usage(folder, case):
    samples = read_samples(folder)
    window = tuple(case["window"]) if "window" in case else None
    found = Usage(files.read_record(folder / "step.json", StepRecord), samples, window)
    metrics = found.figures(1000)
    assert metrics.keys() <= METRICS.keys()
    without = found.figures(None).keys()
    yield from (f"  {name} {value:.8g}{'' if name in without else ', of 1000 operations'}"
                for name, value in sorted(metrics.items()))  # fmt: skip
    yield from (f"  after it {name} {value:.8g}" for name, value in sorted(found.after().items()))
    columns = series(samples)
    for row in zip(*columns.values(), strict=True):
        known = {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        yield "  " + ", ".join(f"{name} {value:.8g}" for name, value in known.items())


def server(folder, case):
    found = counts.server_figures(folder, case["operations"])
    yield from (f"  {name}: {json.dumps(value, default=str)}" for name, value in asdict(found).items())


@pytest.mark.parametrize("read", [usage, server])
def test_figures(read, tmp_path, golden):
    text = ""
    for number, case in enumerate(cases(HERE / f"{read.__name__}.yaml")):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_files(folder, case["files"])
        text += "\n".join((case["case"], *read(folder, case))) + "\n\n"
    golden(text)
