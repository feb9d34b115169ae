from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.importer import FolderError, ImportedStep
from stepgrid.transfer.published import PublishedFolder, read_folder
from tests.importers.made import TABLE, run, sysbench

MET = """\
iostat, vmstat normalized by operation rate
samp\tr/s\trMB/s\tw/s\twMB/s\tr/o\trKB/o\twKB/o\to/s
2\t2.0\t1.0\t20.0\t2.0\t0.005\t2.560\t5.120\t400.00

samp\tcs/s\tcpu/s\tcs/o\tcpu/o
4\t150\t41.5\t0.375\t0.103750
"""


def steps(found: PublishedFolder) -> list[ImportedStep]:
    return [step for stage in found.planned.stages.values() for step in stage]


def wrong(folder: Path) -> list[str]:
    with pytest.raises(FolderError) as caught:
        read_folder("sysbench", folder)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def test_a_run_gets_its_summary(tmp_path: Path) -> None:
    found = read_folder("sysbench", run(tmp_path))
    assert found.summaries["sb.met.point-query.range100.pk1.dop4"] == MET
    assert list(found.summaries) == ["sb.met.point-query.range100.pk1.dop4", "o.met", "qps.abs.dop4.tsv"]


def test_clean_figures_stand_beside(tmp_path: Path) -> None:
    found = read_folder("sysbench", run(tmp_path))
    assert [(each.figure, each.legacy, each.clean, each.why) for each in found.differences] == [
        ("cs/s", "150", "300", "vmstat's banner lines"),
        ("cpu/s", "41.5", "70.0", "vmstat's banner lines"),
        ("cs/o", "0.375", "0.750", "vmstat's banner lines"),
        ("cpu/o", "0.103750", "0.175000", "vmstat's banner lines"),
    ]
    metrics = steps(found)[0].figures.metrics
    wanted = ("qps", "context_switches_per_s", "host_cpu_us_per_op", "device_write_mb_per_s")
    assert [metrics[name] for name in wanted] == [400.0, 300.0, 0.7 * 8 * 1e6 / 400, 2.0]


def test_a_password_is_not_kept(tmp_path: Path) -> None:
    step = steps(read_folder("sysbench", run(tmp_path)))[0]
    assert "--mysql-password=…" in step.argv
    assert not any("secret" in word for word in step.argv)


def test_directories_are_builds(tmp_path: Path) -> None:
    for name, rate in (("x.my80.c8.pk1", "200.00"), ("x.my56.c8.pk1", "400.00")):
        run(tmp_path / name, output=sysbench(rate))
    found = read_folder("sysbench", tmp_path)
    assert found.planned.plan.axes[0].labels == ("my56.c8", "my80.c8")
    assert found.summaries["qps.abs.dop4.tsv"].endswith("col-1\tcol-2\n400\t200\tpoint-query_range=100\n")
    assert found.summaries["qps.rel.dop4.tsv.edit"].endswith("- point queries\ncol-1\n0.50\tpoint-query\n")
    assert set(found.summaries) >= {
        f"x.my{version}.c8.pk1/sb.met.point-query.range100.pk1.dop4" for version in (56, 80)
    }


def test_raw_output_is_better_than_a_table_of_the_same_run(tmp_path: Path) -> None:
    run(tmp_path / "x.my56.c8.pk1", output=sysbench("123.45"))
    (tmp_path / "qps.abs.a.tsv").write_text(TABLE)
    found = {(step.build, step.step): step for step in steps(read_folder("sysbench", tmp_path))}
    assert found["my56.c8", "point-query_range=100"].figures.metrics["qps"] == 123.45
    listed = found["my80.c8", "point-query_range=100"]
    assert (listed.figures.metrics, listed.source) == ({"qps": 150.0}, "qps.abs.a.tsv:5")
    assert found["my80.c8", "scan_range=100"].figures.metrics == {"scan_rate": 30.0}


def test_a_run_that_failed_is_a_failure_and_not_a_fault(tmp_path: Path) -> None:
    step = steps(read_folder("sysbench", run(tmp_path, output=f"FATAL: no\n{sysbench()}")))[0]
    assert (step.failure, dict(step.figures.metrics).get("qps")) == ("sysbench failed: no", None)


def test_the_device_is_the_busiest_that_stands_on_others_and_that_is_said(tmp_path: Path) -> None:
    folder = run(tmp_path)
    path = folder / "sb.io.point-query.range100.pk1.dop4"
    path.write_text(path.read_text().replace("sda ", "md3 "))
    step = steps(read_folder("sysbench", folder))[0]
    assert step.figures.facts["device"] == "md2"
    assert list(step.figures.warnings) == ["device md2: taken for the database's as the busiest of md2, md3"]


def test_a_published_summary_tells_the_device(tmp_path: Path) -> None:
    folder = run(tmp_path)
    path = folder / "sb.io.point-query.range100.pk1.dop4"
    path.write_text(path.read_text().replace("sda ", "md3 "))
    met = MET.replace("2\t2.0\t1.0\t20.0\t2.0", "2\t9.0\t0.0\t0.0\t0.0")
    (folder / "sb.met.point-query.range100.pk1.dop4").write_text(met)
    step = steps(read_folder("sysbench", folder))[0]
    assert (step.figures.facts["device"], list(step.figures.warnings)) == ("md3", [])


def test_all_faults_of_all_files_at_once(tmp_path: Path) -> None:
    run(tmp_path, output="sysbench x\nThreads started!\n")
    run(tmp_path, "update-index")
    (tmp_path / "sb.vm.update-index.range100.pk1.dop4").write_text("")
    (tmp_path / "sb.o.scan.range100.dop4").write_text("")
    (tmp_path / "sb.o.delete.range100.pk1.dop4.gz").write_bytes(b"no gzip")
    assert wrong(tmp_path) == [
        "DIR/sb.o.delete.range100.pk1.dop4.gz: cannot be read: Not a gzipped file (b'no')",
        "DIR/sb.o.point-query.range100.pk1.dop4:2: no statistics (`SQL statistics:`): the output ends here\n"
        "  | Threads started!",
        "DIR/sb.o.scan.range100.dop4: its name says no test: sb.o.TEST.rangeN.pkN.dopN was expected",
        "DIR/sb.vm.update-index.range100.pk1.dop4: vmstat was expected: at least two lines of figures below "
        "cs, us, sy, id, wa",
    ]


def test_tables_that_differ_are_told_apart_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "qps.abs.cached.tsv").write_text(TABLE)
    (tmp_path / "qps.abs.io.tsv").write_text(TABLE.replace("150", "151"))
    (tmp_path / "qps.abs.other.tsv").write_text(TABLE.replace("my56", "my57").replace("my80", "my57v2"))
    found = read_folder("sysbench", tmp_path)
    assert found.planned.plan.axes[1].labels == ("cached", "io")
    qps = {
        (step.build, step.labels.get("table")): step.figures.metrics["qps"]
        for step in steps(found)
        if step.step.startswith("point-query")
    }
    assert qps == {
        ("my56.c8", "cached"): 100,
        ("my80.c8", "cached"): 150,
        ("my56.c8", "io"): 100,
        ("my80.c8", "io"): 151,
        ("my57.c8", None): 100,
        ("my57v2.c8", None): 150,
    }
    assert {"qps.rel.cached.tsv", "qps.rel.io.tsv.edit"} <= set(found.summaries)


def test_of_a_table_that_differs_only_what_no_run_has_is_taken(tmp_path: Path) -> None:
    run(tmp_path / "x.my56.c8.pk1", output=sysbench("100.20"))
    (tmp_path / "qps.abs.a.tsv").write_text(TABLE)
    (tmp_path / "qps.abs.b.tsv").write_text(TABLE.replace("100\t150", "101\t150"))
    found = [
        step for step in steps(read_folder("sysbench", tmp_path)) if (step.build, step.step[:5]) == ("my56.c8", "point")
    ]
    assert sorted((step.labels.get("table", ""), step.figures.metrics["qps"]) for step in found) == [
        ("", 100.2),
        ("b", 101),
    ]


def test_a_table_with_commas_is_the_other_once_more(tmp_path: Path) -> None:
    (tmp_path / "qps.abs.a.tsv").write_text(TABLE)
    copy = tmp_path / "qps.abs.a.csv"
    copy.write_text("point-query_range=100,100,150\nscan_range=100,40,30\n")
    found = read_folder("sysbench", tmp_path)
    assert [str(each).replace(str(tmp_path), "DIR") for each in found.skipped] == [
        "DIR/qps.abs.a.csv: its figures are those of qps.abs.a.tsv: counted once"
    ]
    copy.write_text("point-query_range=100,100,151\n")
    assert wrong(tmp_path) == [
        "DIR/qps.abs.a.csv:1: a row of qps.abs.a.tsv was expected\n  | point-query_range=100,100,151"
    ]


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("hello")
    assert wrong(tmp_path) == ["DIR: there are no sysbench results in it"]
    run(tmp_path / "dop1/x.my80.c8.pk1")
    run(tmp_path / "dop2/x.my80.c8.pk1")
    assert wrong(tmp_path) == [
        "DIR: there are no sysbench results in it; dop1 in it has some: import its folders one by one"
    ]


def test_all_published_samples_byte_for_byte(published: Callable[[str], Path]) -> None:
    folder = published("sysbench")
    found = read_folder("sysbench", folder)
    samples = [path for path in folder.iterdir() if path.name.startswith(("sb.met.", "qps.rel."))]
    assert len(samples) == 4
    for path in samples:
        assert found.summaries[path.name].encode() == path.read_bytes()


def test_the_published_sample_has_its_clean_values_beside(published: Callable[[str], Path], tmp_path: Path) -> None:
    """Also without the summaries, which tell the device."""
    for path in published("sysbench").glob("sb.*"):
        if not path.name.startswith("sb.met."):
            (tmp_path / path.name.removesuffix(".gz")).write_bytes(
                gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
            )
    beside = {(each.file, each.figure): each for each in read_folder("sysbench", tmp_path).differences}
    name = "sb.met.point-query.range100.pk1.dop40"
    assert (beside[name, "cs/s"].legacy, beside[name, "cs/s"].clean) == ("2366886", "2480270")
    assert (beside[name, "cpu/s"].legacy, beside[name, "cpu/s"].clean) == ("81.0", "84.8")


def test_two_directories_of_one_name_do_not_stand_for_one(tmp_path: Path) -> None:
    for name in ("x.my56.c8.pk1", "my56.c8.pk1"):
        run(tmp_path / name)
    assert wrong(tmp_path) == [
        "DIR: two results of point-query_range=100 of my56.c8, load 1 in it: one may not stand for both"
    ]


def test_a_byte_that_is_no_text_does_not_stop_it(tmp_path: Path) -> None:
    run(tmp_path)
    path = tmp_path / "sb.o.point-query.range100.pk1.dop4"
    path.write_bytes(b"WARNING: caf\xe9\n" + path.read_bytes())
    assert list(steps(read_folder("sysbench", tmp_path))[0].figures.warnings) == ["caf\N{REPLACEMENT CHARACTER}"]


def test_a_column_that_some_seconds_lack_is_no_figure(tmp_path: Path) -> None:
    run(tmp_path)
    io, vm = (tmp_path / f"sb.{kind}.point-query.range100.pk1.dop4" for kind in ("io", "vm"))
    vm.write_text("st\n".join(vm.read_text().split("st\n")[:2]) + "xx\n" + vm.read_text().split("st\n")[2])
    io.write_text(io.read_text().replace("wareq-sz", "%util").replace("%util", "wareq-sz", 1))
    found = steps(read_folder("sysbench", tmp_path))[0].figures.metrics
    assert ("host_cpu_idle_pct" in found, "host_cpu_steal_pct" in found, "device_busy_pct" in found) == (
        True,
        False,
        False,
    )
    vm.write_text(vm.read_text().replace(" cs ", " xx ", 1))
    assert wrong(tmp_path) == [
        f"DIR/{vm.name}: vmstat was expected: at least two lines of figures below cs, us, sy, id, wa"
    ]
