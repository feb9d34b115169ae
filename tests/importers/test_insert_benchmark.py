from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.model import figures
from stepgrid.model.figures import rows
from stepgrid.plugins.importer import FolderError, ImportedStep
from stepgrid.plugins.metrics import METRICS
from stepgrid.store.store import Store
from stepgrid.summarize import report_formats
from stepgrid.summarize.report_files import current_report
from stepgrid.transfer.published import PublishedFolder, publish, read_folder
from stepgrid_importers.insert_benchmark import steps, tables
from tests.golden import Golden
from tests.importers.insert_benchmark.made import HEAD, client, run, table, times

LOAD = (
    "167\t0\t2.0\t1.0\t20.0\t2.0\t0.012\t6.146\t0.120\t12.293\t150\t41.5\t0.900\t19908\t3.5\t12.3\t5.0\t0.012\t100\t100\t"
    "20m.x.cy"
)
QUERY = (
    "167\t3330\t2.0\t1.0\t20.0\t2.0\t0.001\t0.308\t0.120\t12.293\t150\t41.5\t0.045\t996\t3.5\t12.3\t5.0\t0.054\t2000\t1500\t"
    "20m.x.cy"
)
TIMES = """\
256us\t1ms\t4ms\t16ms\t64ms\t256ms\t1s\t4s\t16s\tgt\tmax\ttag
99999\t0\t0\t0\t1\t0\t0\t0\t0\t0\t0.054\tt1:DBMS
99999\t0\t0\t0\t1\t0\t0\t0\t0\t0\t0.054\tt2:DBMS
199998\t0\t0\t0\t2\t0\t0\t0\t0\t0\t0.054\tsum:DBMS
99.999\t0.000\t0.000\t0.000\t0.001\t0.000\t0.000\t0.000\t0.000\t0.000\t0.054\tpct:DBMS
"""


def measured(found: PublishedFolder) -> list[ImportedStep]:
    return [step for stage in found.planned.stages.values() for step in stage]


def wrong(folder: Path) -> list[str]:
    with pytest.raises(FolderError) as caught:
        read_folder("insert_benchmark", folder)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def test_a_run_gets_its_summaries(tmp_path: Path) -> None:
    made = read_folder("insert_benchmark", run(tmp_path)).summaries
    assert made["o.sum.t.20m.x.cy"] == table(LOAD, QUERY)
    assert made["mrg.qr100.L1"] == table(QUERY.replace("\t2.0\t1.0", "\t2\t1.0", 1).replace("20m.", ""))
    assert made["20m.x.cy/qr100.L1/o.rt.t.query"] == TIMES
    assert sorted(made) == [
        "20m.x.cy/l.i0/o.rt.t.insert",
        "20m.x.cy/l.i0/o.rt.t.query",
        "20m.x.cy/qr100.L1/o.rt.t.insert",
        "20m.x.cy/qr100.L1/o.rt.t.query",
        "mrg.l.i0",
        "mrg.qr100.L1",
        "o.sum.t.20m.x.cy",
        "rel.l.i0",
        "rel.qr100.L1",
    ]


def test_clean_figures_are_of_raw_files(tmp_path: Path) -> None:
    """Of both clients and of their own clocks; processors without banner lines."""
    load, query = measured(read_folder("insert_benchmark", run(tmp_path)))
    wanted = {
        "inserts_per_s": 200, "deletes_per_s": 200, "target_inserts_per_s": 200, "qps": 3950, "median_qps": 4000,
        "context_switches_per_s": 300, "context_switches_per_op": 300 / 3950,
        "host_cpu_us_per_op": 0.7 * 8 * 1e6 / 3950, "device_writes_per_s": 20, "max_us": 54321,
        "tables_bytes": 3.456 * 2**30, "database_bytes": 12.345 * 2**30, "server_rss_bytes": 5342880 * 1024,
        "server_virtual_bytes": 2.0**33, "max_query_seconds": 0.054321, "min_id_probe_seconds": 0.125,
        "first_client_p50_rate": 2000, "first_client_p99_rate": 1500, "inserts_per_s_with_setup": 166.6,
    }  # fmt: skip
    assert {name: query.figures.metrics[name] for name in wanted} == pytest.approx(wanted)
    assert query.figures.qps[-2:] == [(9.0, 4000.0), (10.0, 3500.0)]
    assert query.host == {"kernel": "6.1.0", "cores": 8}
    assert load.figures.metrics["qps"] == load.figures.metrics["inserts_per_s"]
    assert load.figures.metrics["max_us"] == 12345
    assert "max_delete_seconds" not in query.figures.metrics
    assert list(rows(query.figures.histograms)) == [
        ("insert", 0, 256, 6), ("insert", 4000, 16000, 2),
        ("query", 0, 256, 199998), ("query", 16000, 64000, 2),
    ]  # fmt: skip
    assert [path.name for path in query.files] == ["o.res.dop2", "o.ib.dop2.1", "o.ib.dop2.2"]
    assert load.figures.metrics.keys() | query.figures.metrics.keys() <= METRICS.keys()


def test_each_client_has_its_rates(tmp_path: Path) -> None:
    """Of what the step did: a load prints columns of queries, too."""
    load, query = measured(read_folder("insert_benchmark", run(tmp_path)))
    assert {each.operation for each in load.figures.rates} == {"insert", "delete"}
    assert len(query.figures.rates) == 2 * 3 * 10
    last = [each for each in query.figures.rates if each.second == 10]
    assert last == [
        (0, 10.0, "insert", 100.0, 900.0), (1, 10.0, "insert", 100.0, 900.0),
        (0, 10.0, "delete", 100.0, 800.0), (1, 10.0, "delete", 100.0, 800.0),
        (0, 10.0, "query", 1500.0, 700.0), (1, 10.0, "query", 2000.0, 700.0),
    ]  # fmt: skip


def test_the_report_has_the_published_response_times_and_rates(tmp_path: Path) -> None:
    """By the way that all results go."""
    planned = read_folder("insert_benchmark", run(tmp_path / "raw")).planned
    store = Store(tmp_path / "outputs")
    publish(store, planned)
    report = current_report(store, planned.plan)
    shares = report_formats.table(report, "tsv", "response times by class: qr100.L1, query").splitlines()
    published = TIMES.splitlines()
    assert [line.rpartition("\t")[0] for line in shares[1:]] == [
        line.rpartition("\t")[0] for line in (published[0], published[-1])
    ]
    rates = report_formats.table(report, "tsv", "insert benchmark: insert rate against target").splitlines()
    assert rates[1:] == ["dbms\tqr100.L1", "target\t200", "x.cy\t200"]


def test_clean_figures_stand_beside(tmp_path: Path) -> None:
    found = [
        each for each in read_folder("insert_benchmark", run(tmp_path)).differences if each.row.endswith("qr100.L1")
    ]
    assert [(each.figure, each.legacy, each.clean, each.why) for each in found] == [
        ("ips", "167", "200", "ips and qps"),
        ("qps", "3330", "3950", "ips and qps"),
        ("csps", "150", "300", "csps, cpups, cspq and cpupq"),
        ("cspq", "0.045", "0.076", "csps, cpups, cspq and cpupq"),
        ("cpupq", "996", "1418", "csps, cpups, cspq and cpupq"),
        ("p50", "2000", "4000", "p50 and p99"),
        ("p99", "1500", "3500", "p50 and p99"),
    ]


def test_a_step_without_raw_files_of_the_host_says_less(tmp_path: Path) -> None:
    for path in run(tmp_path).rglob("o.[iv][om].dop2"):
        path.unlink()
    found = read_folder("insert_benchmark", tmp_path)
    assert found.summaries["o.sum.t.20m.x.cy"].splitlines()[1].split("\t")[13] == "NA"
    metrics = measured(found)[1].figures.metrics
    assert not metrics.keys() & {"host_cpu_us_per_op", "context_switches_per_op", "device_writes_per_s"}


def test_what_took_longer_than_the_last_limit_ends_with_the_longest(tmp_path: Path) -> None:
    path = run(tmp_path) / "20m.x.cy/qr100.L1/o.ib.dop2.1"
    text = path.read_text()
    slow = times("Query", "9 0 0 0 0 0 0 0 0 2", "17.500000")
    path.write_text(text[: text.index(" Query rt:")] + slow)
    query = measured(read_folder("insert_benchmark", tmp_path))[1].figures
    assert list(rows(query.histograms))[-1] == ("query", 16e6, 17.5e6, 2)
    assert query.metrics["max_query_seconds"] == 17.5


def test_merges_are_made_of_summaries(tmp_path: Path) -> None:
    """In the order that they have, where they are; a row that no summary has stays. A break begins a new base."""
    for tag, line in (("a.c1", LOAD), ("b.c2", LOAD.replace("167", "334", 1).replace("12.3\t5.0", "9.96\t5.0"))):
        lines = [line.replace("x.cy", tag)] * 6
        (tmp_path / f"o.sum.t.20m.{tag}").write_text(table(*lines))
    other = LOAD.replace("20m.x.cy", "z.c9").replace("\t2.0\t", "\t2\t", 1)
    (tmp_path / "res").mkdir()
    rows = ("0\t" * 20 + "b.c2", "-", other, "0\t" * 20 + "a.c1")
    (tmp_path / "res/mrg.l.i0").write_text(table(*rows))
    made = read_folder("insert_benchmark", tmp_path).summaries
    first = LOAD.replace("\t2.0\t", "\t2\t", 1)
    b_row = first.replace("167", "334", 1).replace("12.3\t5.0", "9.96\t5.0").replace("20m.x.cy", "b.c2")
    assert made["res/mrg.l.i0"] == table(b_row, "-", other, first.replace("20m.x.cy", "a.c1"))
    ones = "\t".join(["1.00", "1", *["1.00"] * 18])
    assert made["res/rel.l.i0"] == table("-", f"{ones}\ta.c1")
    assert "res/mrg.q1000.1" in made


@pytest.mark.parametrize(
    ("cell", "base", "ratio"),
    [
        ("3", "2", "1.50"),
        ("0.0", "0", "1"),
        ("1", "0.000", "inf"),
        ("0", "2", "0.00"),
        ("NA", "1", "NA"),
        ("1", "NA", "NA"),
    ],
)
def test_ratios(cell: str, base: str, ratio: str) -> None:
    assert tables.ratio(cell, base) == ratio


def test_both_generations_of_columns_are_read(tmp_path: Path) -> None:
    names = "ips qps rps rkbps wkbps rpq rkbpq wkbpi csps cpups cspq cpupq dbgb1 dbgb2 rss maxop p50 p90 tag"
    head = names.replace(" ", "\t")
    line = (
        "4000\t700\t711.4\t6814\t15159\t0.0\t0.3\t0.8\t748\t41.0\t4.0\t357\t2.1\t3.6\t2.3\t0.041\t710\t690\t10m.rx.c5"
    )
    failed = line.replace("4000", "3800", 1)
    loads = [line.replace("\t700\t", "\t0\t")] * 3
    queries = [line.replace("4000", "400"), line.replace("4000", "2000"), failed]
    (tmp_path / "o.sum.t.10m.rx.c5").write_text("".join(f"{each}\n" for each in (head, *loads, *queries)))
    found = {each.step: each.figures.metrics for each in measured(read_folder("insert_benchmark", tmp_path))}
    metrics = found["q1000.1"]
    assert (metrics["device_read_mb_per_s"], metrics["device_write_mb_per_s"]) == (6814 / 1024, 15159 / 1024)
    assert (metrics["target_inserts_per_s"], metrics["first_client_p50_rate"]) == (4000, 710)
    assert not {"first_client_p99_rate", "median_qps", "worst_qps_p99"} & metrics.keys()
    assert metrics["inserts_per_s_with_setup"] == metrics["inserts_per_s"] == 3800
    assert found["l.i0"]["qps"] == 4000


@pytest.mark.parametrize(("rate", "kept"), [(3800, True), (3799.4, False), (950, False)])
def test_a_rate_is_sustained_from_95_percent_on(rate: float, kept: bool) -> None:
    assert figures.is_sustained(rate, 4000) is kept


def test_clients_are_told_by_the_lowest_rate() -> None:
    """The higher ones may have failed."""
    assert steps.clients([("l.i0", 90000.0), ("q1000.1", 2500.0), ("q100.1", 399.0)]) == 4
    assert steps.clients([("l.i0", 90000.0)]) is None


def test_probes_are_sorted_by_configuration(tmp_path: Path, golden: Golden) -> None:
    lines = ["", "9m.b2.cy_u\t0.001\t1.0\t2.0\t3.0", "9m.b2.cy10_u\t0.001\t1.0\t2.0\t3.0"]
    lines += ["9m.b2.cy2_u\t0.001\t1.0\t2.0\t3.0", "9m.b1.cy_u\t0.004\t5.0\t6.0\t7.0"]
    (tmp_path / "o.getmin.c2").write_text("\n".join(lines))
    found = read_folder("insert_benchmark", tmp_path)
    golden(found.summaries["o.getmin.c2.r"])
    last = [each for each in measured(found) if each.build == "b1.cy_u"]
    assert [(each.step, each.figures.metrics) for each in last] == [
        (step, {"min_id_probe_seconds": seconds})
        for step, seconds in zip(tables.PROBE_STEPS, (0.004, 5, 6, 7), strict=True)
    ]


def test_every_fault_is_told(tmp_path: Path) -> None:
    run(tmp_path)
    place = tmp_path / "20m.x.cy/l.i0"
    (place / "o.res.dop2").write_text("nothing\n")
    (place / "o.ib.dop2.1").write_text(client(100, 0).replace("\t0\t0\t0\n", "\t0\n", 1))
    (place / "o.ib.dop2.2").write_text("no figures\n")
    (tmp_path / "o.sum.t.20m.y.cy").write_text(table(LOAD))
    (tmp_path / "mrg.l.x").write_text("what\n")
    (tmp_path / "mrg.l.i1").write_text(table("1\t2"))
    (tmp_path / "o.getmin.a").write_text("9m.b.c\t0.1\tx\t0.3\t0.4")
    (place.with_name("l.i9")).mkdir()
    (place.with_name("l.i9") / "o.res.dop2").write_text("nothing\n")
    half = "1.0 1.0 100 100 100 100 0 0 900 800 700 100 100 0 0"
    place = Path("DIR/20m.x.cy/l.i0")
    assert wrong(tmp_path) == [
        f"{place}/o.ib.dop2.1:4: 17 figures were expected here, as the head above names them\n  | {half}",
        f"{place}/o.ib.dop2.2: no head of its figures by the second (i_sec, t_sec, …) is in it",
        f"{place}/o.res.dop2:1: `N processes, N rows-per-process, N seconds, N rows-per-second …` was expected\n"
        "  | nothing",
        "DIR/20m.x.cy/l.i9/o.res.dop2: its folder is l.i9, which is no step: l.i0, l.x, l.i1, … q1000.1 are",
        "DIR/mrg.l.i1:2: 2 cells where 21 were expected, as its head names them\n  | 1 2",
        "DIR/mrg.l.x:1: a head of columns was expected (ips, qps, … tag)\n  | what",
        "DIR/o.getmin.a:1: a name and seconds of l.i0, q100, q500, q1000 were expected here\n  | 9m.b.c 0.1 x 0.3 0.4",
        "DIR/o.sum.t.20m.y.cy: 1 rows, of which steps is not to be known: 6, 9, 10, 15 rows are",
    ]


def test_a_table_of_other_columns_is_left_out_of_a_merge(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "mrg.l.i0").write_text(f"{HEAD.replace('rmbps', 'rkbps')}\n")
    assert read_folder("insert_benchmark", tmp_path).summaries["mrg.l.i0"].count("\n") == 1
