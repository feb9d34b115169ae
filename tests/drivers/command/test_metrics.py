from __future__ import annotations

from stepgrid.model.metrics.metric import STEP, Metric
from stepgrid.model.plan import PlannedStep
from stepgrid.plugins.metrics import own


def test_what_a_command_calls_its_figures() -> None:
    said = {"unit": "KiB", "better": "higher", "pattern": r"rate (\d+)"}
    at = {"unit": "", "better": None, "pattern": None, "json": "$.rate"}
    steps = (
        PlannedStep("a", "command", 1, {"metrics": {"rate": said, "qps": said}}, {}, 7),
        PlannedStep("b", "command", 1, {"metrics": {"rate": at, "other": at}}, {}, 7),
        PlannedStep("c", "db_bench", 1, {"benchmarks": ["fillseq"]}, {}, 7),
    )
    assert own(steps) == {
        "other": Metric("other", "", None, "A figure of the command's own, found at $.rate.", STEP),
        "rate": Metric(
            "rate", "KiB", "higher", r"A figure of the command's own, found by the pattern rate (\d+).", STEP
        ),
    }
