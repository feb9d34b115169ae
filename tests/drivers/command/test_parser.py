import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import ParseError
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


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"length": 1e10},
            "`length`: 10000000000.0; expected a number from 0.001 to 1,000,000",
        ),  # it is written out by second
        ({"length": -5}, "`length`: -5; expected"),
        ({"length": 0}, "`length`: 0; expected"),
        ({"asked": -100}, "`asked`: -100; expected a number from 0 on"),
        ({"asked": float("nan")}, "`asked`: nan; expected"),
        ({"asked": "100"}, "`asked`: '100'; expected"),
        ({"left": -50}, "`left`: -50; expected"),
        ({"points": [1, 2]}, "`points`: [1, 2]; expected SECOND:RATE,SECOND:RATE, as 0:1000,300:20000"),
        ({"points": "0:nan,-5:1"}, "`points`: '0:nan,-5:1'; expected"),
        ({"left": None}, "`left`: None; expected"),
    ],
)
def test_a_schedule_that_cannot_be_has_no_figures(changed, message, tmp_path):
    lines = [
        {"report": "service", "left": 0, "buckets": [[300, 2000]]},
        {"report": "schedule", "asked": 2000, "length": 20, "left": 0, **changed},
        {"report": "end", "seconds": 20},
    ]
    with pytest.raises(ParseError) as error:
        _metrics(tmp_path, "\n".join(map(json.dumps, lines)))
    assert str(error.value).startswith(f"a line of `schedule` has {message}")
