"""Outputs of each kind as data: what a program wrote, and the figures that come of it, or why there are none.

The cases of a kind stand in outputs/KIND.yaml: settings of a step and the files of its folder, or a file that is
read by itself (`printed`). Its golden text has what all of them say. Samples of other machines are read where they lie.
"""

from pathlib import Path

import pytest

from stepgrid.model.figures import ParseError
from stepgrid.plugins.driver import FailureExplainer, LiveThroughput, LiveWait, StandaloneOutput
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import require_runner
from tests.cases import cases, few, figure_lines, write_files
from tests.importers.conftest import samples as samples

OUTPUTS = Path(__file__).with_name("outputs")
KINDS = sorted(path.stem for path in OUTPUTS.glob("*.yaml"))
OWN_NAMES = ("command", "linkbench", "pgbench", "tpcc")  # kinds whose specs name figures


def usual(kind):
    fields = require_runner(kind).settings_model().model_fields
    return {
        name: field.get_default(call_default_factory=True) for name, field in fields.items() if not field.is_required()
    }


def read(kind, folder, case):
    runner = require_runner(kind)
    try:
        if "printed" in case:
            assert isinstance(runner, StandaloneOutput)
            for step in runner.printed(folder / case["printed"]):
                yield f"  step {step.name}"
                yield from figure_lines(step.figures)
        elif "settings" in case:
            yield from figure_lines(runner.parse(folder, usual(kind) | case["settings"]))
    except ParseError as error:
        yield f"  refused: {error}"
    if "printed" in case:
        return
    if isinstance(runner, FailureExplainer) and (complaint := runner.complaint(folder)):
        yield f"  failed: {complaint}"
    if isinstance(runner, LiveWait) and (cause := runner.waits_for(folder)):
        yield f"  waits for {cause}"
    if isinstance(runner, LiveThroughput):
        yield from few(f"  live at {second:g} s: {rate:.10g}" for second, rate in runner.live(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_outputs(kind, tmp_path, golden):
    text = ""
    for number, case in enumerate(cases(OUTPUTS / f"{kind}.yaml")):
        folder = tmp_path / str(number)
        write_files(folder, case["files"])
        lines = (case["case"], *read(kind, folder, case))
        text += "\n".join(lines).replace(str(folder), "FOLDER") + "\n\n"
    golden(text)


SAMPLES = {
    "db_bench": ("db_bench", "engines/db_bench*.txt", 11),
    "published": ("db_bench", "published/db_bench/stdout*", 1),
    "pgbench": ("pgbench", "engines/pgbench*", 5),
    "sysbench": ("sysbench", "engines/sysbench-*", 23),
}


@pytest.mark.parametrize(("kind", "pattern", "count"), SAMPLES.values(), ids=SAMPLES)
def test_samples(kind, pattern, count, samples, golden):
    """Read real outputs: each has a step, whose figures are metrics."""
    runner = require_runner(kind)
    assert isinstance(runner, StandaloneOutput)
    paths = sorted(samples.glob(pattern))
    assert len(paths) == count
    text = ""
    for path in paths:
        text += f"{path.name}\n"
        for step in runner.printed(path):
            assert kind in OWN_NAMES or step.figures.metrics.keys() <= METRICS.keys()
            text += "\n".join((f"  step {step.name}", *figure_lines(step.figures))) + "\n"
    golden(text)
