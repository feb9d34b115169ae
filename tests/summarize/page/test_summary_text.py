"""The text of a report, to the letter."""

import json

import pytest

from stepgrid import pipeline
from stepgrid.store.store import Store
from stepgrid.summarize.page import absolute_figures, summary_text
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complete(root, rates, **settings):
    """One build, threads=1; `rates`: cache -> QPS of each load, or a whole series of it."""
    found = Experiment(root, caches=tuple(rates), threads=("1",), loads=len(next(iter(rates.values()))), **settings)
    found.add_build("rocksdb-7.8.3")
    for load in range(found.loads):
        found.add_load("rocksdb-7.8.3", load)
        for cache, loads in rates.items():
            if ("rocksdb-7.8.3", cache) not in found.alike and loads[load] is not None:
                found.add("rocksdb-7.8.3", cache, "1", load, {"readww": loads[load], "overwrite": loads[load]})
    scenario.report(found)
    return found


def table(found):
    """The head and readww's lines of the comparison, without the step's column."""
    lines = (
        scenario.text(found).split("QPS relative to cache=lru, 95 % intervals\n")[1].split("\n\n")[0].splitlines()[1:]
    )
    return [line[2 + len("overwrite") + 2 :] for line in lines if line.split()[0] in ("step", "readww")]


def test_arms_that_share_their_stages_are_the_same_run(here):
    found = complete(
        here, {"lru": [1000.0] * 3, "hyper": [900.0] * 3, "plain": [None] * 3}, alike=[("rocksdb-7.8.3", "plain")]
    )
    assert table(found) == [
        "cache=lru QPS  cache=hyper                  cache=plain",
        "1,000          0.900 [0.896, 0.904] slower  same as cache=lru",
    ]
    assert "INCOMPLETE" not in scenario.text(found)


def test_noisy_equal_arms_are_inconclusive(here):
    found = complete(here, {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]})
    assert table(found)[1] == "1,000          1.00 [0.88, 1.14] inconclusive"


def test_one_load_has_no_range(here):
    found = complete(here, {"lru": [1000.0], "hyper": [900.0]})
    assert "  cache  QPS    p50  " in scenario.text(found)
    assert "lowest-highest" not in scenario.text(found)


def test_the_time_of_stalls_and_of_draining_are_columns(here):
    found = scenario.report(complete(here, {"lru": [1000.0], "hyper": [900.0]}))
    found.comparisons.sections[0].points[0].runs[0].metrics.update(stall_pct=12.5, drain_seconds=5.25)
    absolute_figures.table.cache_clear()  # it was written before
    lines = summary_text.text(found, here).splitlines()
    step = found.comparisons.sections[0].step
    units = "p50 to p99.9 and CPU/op in µs, stalled in %, drain in s"
    title = lines.index(f"{step}: absolute figures of one load; {units}")
    assert lines[title + 2].endswith("  stalled  drain")
    assert lines[title + 3].endswith("  12.5     5.25")


def test_what_is_of_some_steps_alone_is_a_column_of_those(here):
    """Latencies of each kind of operation where a step mixes them, and the debt that a drain begins with."""
    found = scenario.report(complete(here, {"lru": [1000.0], "hyper": [900.0]}))
    found.comparisons.sections[0].points[0].runs[0].metrics.update(seek_p99_us=18987.0, drain_l0_files=12.0)
    absolute_figures.table.cache_clear()
    lines = summary_text.text(found, here).splitlines()
    title = next(
        place for place, line in enumerate(lines) if line.startswith(f"{found.comparisons.sections[0].step}: absolute")
    )
    assert lines[title + 2].endswith("  L0 debt")
    assert "  seek p99  " in lines[title + 2]
    assert lines[title + 3].endswith("  12")
    assert "  18,987    " in lines[title + 3]
    assert "            L0 debt: files of level 0 when the benchmark was over and the drain began" in lines


def test_what_a_step_left_to_clean_up_stands_beside_its_figures(here):
    found = scenario.report(complete(here, {"lru": [1000.0], "hyper": [900.0]}))
    said = "            tombstones, dead rows, history list, bloat: what the step left to clean up"
    assert said not in summary_text.text(found, here).splitlines()
    garbage = {"dead_rows": 1234567.0, "bloat_bytes": 3 * 2.0**20}
    found.comparisons.sections[0].points[0].runs[0].metrics.update(garbage)
    absolute_figures.table.cache_clear()
    lines = summary_text.text(found, here).splitlines()
    title = next(
        place for place, line in enumerate(lines) if line.startswith(f"{found.comparisons.sections[0].step}: absolute")
    )
    assert lines[title + 2].endswith("  dead rows  bloat")
    assert lines[title + 3].endswith("  1,234,567  3 MiB")
    assert said in lines


def test_write_amplification_is_explained_where_there_is_some(here):
    found = scenario.report(complete(here, {"lru": [1000.0], "hyper": [900.0]}))
    said = "w-amp: what flushes and compactions wrote, per byte that came in"
    assert said not in summary_text.text(found, here)
    found.comparisons.sections[0].points[0].runs[0].metrics["write_amplification"] = 0.5
    assert f"            {said}" in summary_text.text(found, here)


def test_one_load_is_at_most_indicative(here):
    steady = [1000.0, 1010.0, 990.0, 1005.0] * 5
    found = complete(here, {"lru": [steady], "hyper": [[2 * rate for rate in steady]]})
    assert table(found)[1] == "1,001          2.00 [2.00, 2.00] indicative"


def test_one_short_load_has_no_interval(here):
    found = complete(here, {"lru": [1000.0], "hyper": [1100.0]})
    assert table(found)[1] == "1,000          1.10 one load"


def test_fewer_loads_than_planned_are_said(here):
    found = complete(here, {"lru": [1000.0, 1001.0, 1002.0], "hyper": [500.0, None, 501.0]})
    assert table(found)[1] == "1,001          0.50 [0.49, 0.51] slower (2 of 3 loads)"
    assert (
        scenario.text(found).splitlines()[2] == "INCOMPLETE: 2 of 15 measured steps have no figures yet (see status)."
    )


def test_without_its_base_an_arm_shows_its_figure(here):
    found = complete(here, {"lru": [None, None], "hyper": [500.0, 501.0]})
    assert table(found)[1] == "missing        no base; 500 QPS"


def test_warnings_of_unlike_hosts_and_old_figures(here):
    found = complete(here, {"lru": [1000.0] * 2, "hyper": [900.0] * 2})
    result = found.store.result("s-7.8.3-hyper-1-1")
    for name, old, new in (("attempt.json", "6.1.0", "6.18.0"), ("result.json", "2026-11-20", "2026-12-01")):
        (result / name).write_text((result / name).read_text().replace(old, new))
    found.seal(result)
    scenario.report(found)
    lines = scenario.text(found).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("warnings"))
    assert lines[start : start + 3] == [
        "warnings    the figures come from different settings of the host: kernel 6.1.0, 6.18.0",
        "            the figures were measured up to 11 days apart (2026-11-20 to 2026-12-01)",
        "compared    build: rocksdb-7.8.3",
    ]


def _note(found, stage, **facts):
    """As if the attempt of a stage had noted them."""
    path = found.store.result(stage) / "attempt.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))
    found.seal(path.parent)


def test_a_host_that_was_not_quiet(here):
    found = complete(here, {"lru": [1000.0] * 2, "hyper": [900.0] * 2})
    noise = {"warning": "others used 45% of a core: cc1plus 45%", "findings": []}
    _note(found, "s-7.8.3-hyper-1-1", noise=noise)
    scenario.report(found)
    lines = scenario.text(found).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("warnings"))
    assert lines[start : start + 2] == [
        "warnings    the host was not quiet before 1 of 6 stages (rocksdb-7.8.3, cache=hyper, threads=1, load",
        "            2): others used 45% of a core: cc1plus 45%",
    ]


def test_what_was_measured_again_on_request(here):
    found = complete(here, {"lru": [1000.0] * 2, "hyper": [900.0] * 2})
    for stage, why in (("s-7.8.3-hyper-1-0", ""), ("s-7.8.3-hyper-1-1", "a noisy neighbour")):
        _note(found, stage, asked={"who": "me", "when": "2026-11-20T10:00:00+00:00", "why": why})
    scenario.report(found)
    lines = scenario.text(found).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("warnings"))
    assert lines[start : start + 4] == [
        "warnings    1 of 6 stages measured again on request, and only the newest result counts: no reason",
        "            given",
        "            1 of 6 stages measured again on request, and only the newest result counts: a noisy",
        "            neighbour",
    ]


def test_the_command(here, capsys):
    found = scenario.experiment(here.relative_to(here))
    assert pipeline.summarize("p-other") == 1
    assert pipeline.summarize("p-synthetic") == 1
    assert capsys.readouterr().err == (
        "summarize: there is no plan p-other under outputs/plans; start a run first\n"
        "summarize: the tables of plan p-synthetic are missing; "
        "first: python -m stepgrid.pipeline collect p-synthetic\n"
    )
    scenario.report(found)
    assert pipeline.summarize("p-synthetic") == 0
    assert capsys.readouterr().err == (
        "summarize: 6 of 54 measured steps have no figures; the report says so on top. Run again to measure them.\n"
    )
    assert pipeline.summarize("p-synthetic", is_partial=True) == 0
    assert capsys.readouterr().err == ""
    assert summary_text.path(Store(), "p-synthetic").is_file()
    assert summary_text.page_path(Store(), "p-synthetic").is_file()


def test_arms_that_share_their_stages_with_another_arm_are_judged_once(here):
    """`plain` is `hyper` under another name: not a second finding, and no figures of its own."""
    alike = {"alike": [("rocksdb-7.8.3", "plain")], "alike_to": "hyper"}
    found = complete(here, {"lru": [1000.0] * 3, "hyper": [900.0] * 3, "plain": [None] * 3}, **alike)
    assert table(found) == [
        "cache=lru QPS  cache=hyper                  cache=plain",
        "1,000          0.900 [0.896, 0.904] slower  same as cache=hyper",
    ]
    assert "  plain  same as cache=hyper\n" in scenario.text(found)
    assert "`cache=plain` is the same run as `cache=hyper`" in scenario.text(found)


def test_options_that_a_binary_lacks_are_said_on_top(here):
    found = complete(here, {"lru": [1000.0] * 2, "hyper": [900.0] * 2})
    file = found.store.result("s-7.8.3-hyper-1-1") / "result.json"
    result = json.loads(file.read_text())
    result["steps"][0]["dropped"] = ["async_io"]
    file.write_text(json.dumps(result))
    scenario.report(found)
    assert "left out    options that a binary lacks: async_io (rocksdb-7.8.3)\n" in scenario.text(found)


def test_without_a_difference_the_first_line_says_so(here):
    found = complete(here, {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]})
    assert scenario.text(found).splitlines()[2:9] == [
        "in short    `cache=hyper` cannot be told from `cache=lru` at 2 of 2 points: 0.88× to 1.14× are",
        "            possible",
        "            Ratios are of QPS to the base: above 1 is faster.",
        "            Inconclusive: to see 3 %, half of these points need 40 loads, longer steps or a quieter",
        "            host.",
        "claims      This spec makes no claims.",
        "compared    build: rocksdb-7.8.3",
    ]
