from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from stepgrid.drivers.sysbench.standalone_output import printed
from stepgrid.model.figures import ParseError
from tests.drivers.sysbench.test_parser import END, HEAD, HISTOGRAM, SERIES
from tests.importers.conftest import samples as samples

RUN = HEAD + SERIES + HISTOGRAM + END


def test_one_run_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "sb.o"
    path.write_text(RUN)
    (step,) = printed(path)
    assert step.name == "sb.o"
    assert step.figures.metrics["qps"] == 400.0
    assert [len(each.operations) for each in step.figures.histograms] == [3]
    assert len(step.figures.qps) == 2


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(f"sysbench oltp_scan.lua --threads=1 run\n{RUN}{HEAD}FATAL: deadlock\n{RUN}")
    steps = printed(path)
    assert [step.name for step in steps] == ["oltp_scan", "log", "log"]
    assert [len(step.figures.metrics) > 0 for step in steps] == [True, False, True]
    assert list(steps[1].figures.warnings) == ["sysbench failed: deadlock"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "no such thing\n",
            "no output of sysbench: neither its first line (`sysbench VERSION (using LUA)`) nor its statistics "
            "(`SQL statistics:`)",
        ),
        (RUN + HEAD, "run 2: no statistics (`SQL statistics:`)"),
    ],
)
def test_what_is_no_output(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(text)
    with pytest.raises(ParseError) as caught:
        printed(path)
    assert str(caught.value) == f"{path}: {said}"


def test_one_that_is_packed(tmp_path: Path) -> None:
    (tmp_path / "sb.o.gz").write_bytes(gzip.compress(RUN.replace("\n", "\r\n").encode()))
    assert printed(tmp_path / "sb.o.gz")[0].figures.metrics["operations"] == 2000.0


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(RUN.encode())[:60])
    for name, why in (
        ("", "Is a directory"),
        ("cut.gz", "Compressed file ended before the end-of-stream marker was reached"),
    ):
        with pytest.raises(ParseError) as caught:
            printed(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name} cannot be read: {why}"


def test_all_samples_can_be_read(samples: Path) -> None:
    for path in sorted((samples / "engines").glob("sysbench-*")):
        assert len(printed(path)) == 1


def test_a_count_that_is_none_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text((HEAD + END).replace("total:                           2000", "total:  4.25"))
    (run,) = printed(tmp_path / "a")
    assert "qps" in run.figures.metrics
