from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import ParseError
from stepgrid.plugins.drivers import running

DRIVER = running("command")


def _metrics(folder: Path, stdout: str, stderr: str = "", **metrics: dict[str, Any]) -> dict[str, float]:
    (folder / "stdout").write_text(stdout, encoding="utf-8")
    (folder / "stderr").write_text(stderr, encoding="utf-8")
    settings = DRIVER.settings_model().model_validate({"argv": ["x"], "metrics": metrics}).model_dump(mode="json")
    return dict(DRIVER.parse(folder, settings).metrics)


def test_the_last_match_counts(tmp_path: Path) -> None:
    assert _metrics(tmp_path, "rate 1\nrate 2.5\n", rate={"pattern": r"^rate (\S+)$"}) == {"rate": 2.5}


def test_stdout_goes_before_stderr(tmp_path: Path) -> None:
    metrics = {"a": {"pattern": r"a=(\d+)"}, "b": {"pattern": r"b=(\d+)"}}
    assert _metrics(tmp_path, "a=1", "a=2 b=3", **metrics) == {"a": 1.0, "b": 3.0}


def test_what_is_not_there_is_missing(tmp_path: Path) -> None:
    assert _metrics(tmp_path, "nothing", rate={"pattern": r"rate (\d+)"}) == {}
    assert _metrics(tmp_path, "rate", rate={"pattern": r"rate(?: (\d+))?"}) == {}


def test_what_is_required_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        _metrics(tmp_path, "nothing", rate={"pattern": r"rate (\d+)", "required": True})
    assert str(caught.value) == r"metric `rate`: nothing in stdout or stderr matches rate (\d+)"


@pytest.mark.parametrize("text", ["fast", "1,234", "nan", "inf", ""])
def test_what_is_no_number(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParseError) as caught:
        _metrics(tmp_path, f"rate={text}\n", rate={"pattern": "rate=(.*)"})
    assert str(caught.value) == f"metric `rate`: its pattern found `{text}`, which is no number"


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(b"\xff\xfe rate=3\n")
    (tmp_path / "stderr").write_bytes(b"")
    assert DRIVER.parse(tmp_path, {"metrics": {"rate": {"pattern": r"rate=(\d+)", "required": False}}}).metrics == {
        "rate": 3.0
    }


@given(value=st.floats(allow_nan=False, allow_infinity=False), noise=st.text("abc =\n", max_size=30))
def test_any_number_comes_back(tmp_path_factory: pytest.TempPathFactory, value: float, noise: str) -> None:
    folder = tmp_path_factory.mktemp("step")
    printed = f"{noise}\nx: {value!r}\n{noise}"
    assert _metrics(folder, printed, x={"pattern": r"^x: (\S+)$"}) == {"x": value}
