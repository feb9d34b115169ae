"""A published sb.met in place of outputs that were not published."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.transfer.published import read_folder
from tests.importers.made import run
from tests.importers.test_sysbench import MET, steps, wrong


def published_only(folder: Path, *kinds: str) -> dict[str, float]:
    """Figures of a run with its sb.met in place of some outputs."""
    run(folder)
    (folder / "sb.met.point-query.range100.pk1.dop4").write_text(MET)
    for kind in kinds:
        (folder / f"sb.{kind}.point-query.range100.pk1.dop4").unlink()
    (step,) = steps(read_folder("sysbench", folder))
    return dict(step.figures.metrics)


@pytest.mark.parametrize("kinds", [("io", "vm"), ("o", "io", "vm")])
def test_a_published_summary_stands_for_outputs_that_were_not_published(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    found = published_only(tmp_path, *kinds)
    wanted = {
        "qps": 400.0,
        "device_reads_per_s": 2.0,
        "reads_per_op": 0.005,
        "read_kb_per_op": 2.56,
        "device_write_mb_per_s": 5.12 * 400 / 1024,
        "write_kb_per_op": 5.12,
        "context_switches_per_s": 150.0,
        "context_switches_per_op": 0.375,
        "host_cpu_busy_pct": 41.5,
    }
    assert {name: found.get(name) for name in wanted} == pytest.approx(wanted)
    assert "host_cpu_us_per_op" not in found  # of an unknown number of cores


def test_of_a_published_summary_only_what_has_no_output_is_taken(tmp_path: Path) -> None:
    found = published_only(tmp_path, "io")
    assert (found["context_switches_per_s"], "host_cpu_busy_pct" in found) == (300.0, False)
    assert found["device_writes_per_s"] == 20.0


def test_the_column_that_is_rounded_less_is_taken(tmp_path: Path) -> None:
    """0.0 MB a second and 0.005 KB an operation are 0.029 MB a second; a million operations turn it around."""
    run(tmp_path)
    path = tmp_path / "sb.met.point-query.range100.pk1.dop4"
    for kind in ("o", "io", "vm"):
        (tmp_path / f"sb.{kind}.point-query.range100.pk1.dop4").unlink()
    for rate, written in (("6000", 0.005 * 6000 / 1024), ("982242.36", 0.1)):
        row = f"335\t0.1\t0.0\t11.3\t{0.1 if rate[0] == '9' else 0.0}\t0.000\t0.000\t0.005\t{rate}"
        path.write_text(MET.replace("2\t2.0\t1.0\t20.0\t2.0\t0.005\t2.560\t5.120\t400.00", row))
        (step,) = steps(read_folder("sysbench", tmp_path))
        assert step.figures.metrics["device_write_mb_per_s"] == pytest.approx(written)


def test_a_summary_that_is_cut_off_is_told(tmp_path: Path) -> None:
    run(tmp_path)
    for kind in ("io", "vm"):
        (tmp_path / f"sb.{kind}.point-query.range100.pk1.dop4").unlink()
    (tmp_path / "sb.met.point-query.range100.pk1.dop4").write_text(MET.partition("\t0.375")[0])
    assert wrong(tmp_path) == [
        "DIR/sb.met.point-query.range100.pk1.dop4:6: "
        "5 figures were expected here, as the head above names them\n  | 4 150 41.5"
    ]


def test_published_summaries_make_the_overview(tmp_path: Path) -> None:
    for name in ("x.my56.c8.pk1", "x.my80.c8.pk1"):
        published_only(tmp_path / name, "io", "vm")
    assert read_folder("sysbench", tmp_path).summaries["o.met"].split("\n")[3:6] == [
        "0.103750\t0.375\t0.005\t2.56\t5.12\t400\tx.my56.c8.pk1",
        "0.103750\t0.375\t0.005\t2.56\t5.12\t400\tx.my80.c8.pk1",
        "--- relative to first result",
    ]


def test_a_summary_beside_that_holds_no_figures_tells_no_rate(tmp_path: Path) -> None:
    name = "scan.range100.pk1.dop4"
    (run(tmp_path, "scan") / f"sb.met.{name}").write_text("x\nsamp\tr/s\nKilled\n")
    assert (
        steps(read_folder("sysbench", tmp_path))[0].figures.facts["published scan rate"]
        == "of one client (since late 2025)"
    )
