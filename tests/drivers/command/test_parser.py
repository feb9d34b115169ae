from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.metrics import STEP, Metric
from stepgrid.model.plan import PlannedStep
from stepgrid.plugins.metrics import step_metrics
from stepgrid.plugins.registry import require_runner

DRIVER = require_runner("command")


def _metrics(folder, stdout, stderr="", **metrics):
    (folder / "stdout").write_text(stdout, encoding="utf-8")
    (folder / "stderr").write_text(stderr, encoding="utf-8")
    settings = DRIVER.settings_model().model_validate({"argv": ["x"], "metrics": metrics}).model_dump(mode="json")
    return dict(DRIVER.parse(folder, settings).metrics)


@given(value=st.floats(allow_nan=False, allow_infinity=False), noise=st.text("abc =\n", max_size=30))
def test_any_number_comes_back(tmp_path_factory, value, noise):
    folder = tmp_path_factory.mktemp("step")
    printed = f"{noise}\nx: {value!r}\n{noise}"
    assert _metrics(folder, printed, x={"pattern": r"^x: (\S+)$"}) == {"x": value}


def test_what_a_command_calls_its_figures():
    said = {"unit": "KiB", "better": "higher", "pattern": r"rate (\d+)"}
    at = {"unit": "", "better": None, "pattern": None, "json": "$.rate"}
    steps = (
        PlannedStep("a", "command", 1, {"metrics": {"rate": said, "qps": said}}, {}, 7),
        PlannedStep("b", "command", 1, {"metrics": {"rate": at, "other": at}}, {}, 7),
        PlannedStep("c", "db_bench", 1, {"benchmarks": ["fillseq"]}, {}, 7),
    )
    assert step_metrics(steps) == {
        "other": Metric("other", "", None, "A figure of the command's own, found at $.rate.", STEP),
        "rate": Metric(
            "rate", "KiB", "higher", r"A figure of the command's own, found by the pattern rate (\d+).", STEP
        ),
    }
