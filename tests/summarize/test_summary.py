"""The text of a report, to the letter."""

import json
import re

import pytest
import scenario
from synthetic import Experiment

from compiler.store.store import Store
from compiler.summarize import __main__ as command
from compiler.summarize import summary

TEXT = """\
LRU against hyper-clock cache
=============================
INCOMPLETE: 6 of 54 measured steps have no figures yet (see status).
in short    cache=hyper against cache=lru, rocksdb-7.8.3, threads=1, readww: 1.50x [1.49, 1.51]
            faster
            cache=hyper against cache=lru, rocksdb-7.8.3, threads=1, overwrite: 1.10x [1.10, 1.11]
            faster
            readww, cache=hyper against cache=lru: 1 faster (1.50x), 1 failed, 2 unsupported
            overwrite, cache=hyper against cache=lru: 1 faster (1.10x), 1 failed, 2 unsupported
warnings    rocksdb-6.11.4: Assertions are enabled; benchmarks unnecessarily slow
            ratios across builds carry no verdict: the binaries were not made alike (suite bullseye
            / bookworm)
compared    build: rocksdb-6.11.4, rocksdb-7.8.3
            cache: lru (base), hyper
            threads: 1, 2
builds      rocksdb-6.11.4: 6.11.4 (debian, rocksdb-tools 6.11.4-1)
            rocksdb-7.8.3: 7.8.3 (debian, rocksdb-tools 7.8.3-1)
repeats     3 loads
host        AMD EPYC 7763, 2 cores, 8 GiB, xfs on nvme0n1, kernel 6.1.0
status      36 done, 12 unsupported, 2 failed, 4 missing (measured steps)
            missing: 4 runs: not run yet
              in rocksdb-7.8.3, cache=hyper, threads=2, step=readww and 1 more
            failed: 2 runs: readww: db_bench was killed by SIGKILL
              in rocksdb-7.8.3, cache=hyper, threads=2, step=readww and 1 more
              log: outputs/attempts/s-7.8.3-hyper-2-0/TIME/steps/0-readww/stderr
            unsupported: 12 runs: rocksdb-6.11.4 has no option cache_type

QPS relative to cache=lru, 95 % intervals
-----------------------------------------
  step       build           threads  cache=lru QPS  cache=hyper
  readww     rocksdb-6.11.4  1        10,000         unsupported
  readww     rocksdb-6.11.4  2        20,000         unsupported
  readww     rocksdb-7.8.3   1        10,000         1.50 [1.49, 1.51] faster
  readww     rocksdb-7.8.3   2        20,000         failed
  overwrite  rocksdb-6.11.4  1        18,100         unsupported
  overwrite  rocksdb-6.11.4  2        36,200         unsupported
  overwrite  rocksdb-7.8.3   1        18,100         1.10 [1.10, 1.11] faster
  overwrite  rocksdb-7.8.3   2        36,200         failed

QPS relative to rocksdb-7.8.3, 95 % intervals
---------------------------------------------
  step       cache  threads  rocksdb-7.8.3 QPS  floor  rocksdb-6.11.4
  fillseq    -      -        300,000            2.0%   1.00 [0.99, 1.01] *
  readww     lru    1        10,000             2.2%   1.00 [0.99, 1.01] *
  readww     lru    2        20,000             2.2%   1.00 [0.99, 1.01] *
  readww     hyper  1        15,000             -      unsupported
  readww     hyper  2        failed             -      unsupported
  overwrite  lru    1        18,100             2.2%   1.00 [0.99, 1.01] *
  overwrite  lru    2        36,200             2.2%   1.00 [0.99, 1.01] *
  overwrite  hyper  1        20,000             -      unsupported
  overwrite  hyper  2        failed             -      unsupported
  * no verdict: rocksdb-7.8.3 and rocksdb-6.11.4 were built differently: suite bookworm / bullseye

fillseq: absolute figures, medians of the loads; p50 to p99.9 and CPU/op in µs
------------------------------------------------------------------------------
  build           QPS      lowest-highest   p50   p99   p99.9  CPU/op
  rocksdb-6.11.4  300,000  297,000-303,000  3.33  16.7  30.0   1.67
  rocksdb-7.8.3   300,000  297,000-303,000  3.33  16.7  30.0   1.67

readww: absolute figures, medians of the loads; p50 to p99.9 and CPU/op in µs
-----------------------------------------------------------------------------
  build           cache  threads  QPS     lowest-highest  p50   p99  p99.9  CPU/op
  rocksdb-6.11.4  lru    1        10,000  9,900-10,100    100   500  900    50.0
  rocksdb-6.11.4  lru    2        20,000  19,800-20,200   50.0  250  450    25.0
  rocksdb-6.11.4  hyper  1        unsupported
  rocksdb-6.11.4  hyper  2        unsupported
  rocksdb-7.8.3   lru    1        10,000  9,900-10,100    100   500  900    50.0
  rocksdb-7.8.3   lru    2        20,000  19,800-20,200   50.0  250  450    25.0
  rocksdb-7.8.3   hyper  1        15,000  14,850-15,150   66.7  333  600    33.3
  rocksdb-7.8.3   hyper  2        failed

overwrite: absolute figures, medians of the loads; p50 to p99.9 and CPU/op in µs
--------------------------------------------------------------------------------
  build           cache  threads  QPS     lowest-highest  p50   p99  p99.9  CPU/op
  rocksdb-6.11.4  lru    1        18,100  17,919-18,281   55.2  276  497    11.0
  rocksdb-6.11.4  lru    2        36,200  35,838-36,562   27.6  138  249    5.52
  rocksdb-6.11.4  hyper  1        unsupported
  rocksdb-6.11.4  hyper  2        unsupported
  rocksdb-7.8.3   lru    1        18,100  17,919-18,281   55.2  276  497    11.0
  rocksdb-7.8.3   lru    2        36,200  35,838-36,562   27.6  138  249    5.52
  rocksdb-7.8.3   hyper  1        20,000  19,800-20,200   50.0  250  450    25.0
  rocksdb-7.8.3   hyper  2        failed
  stalls: rocksdb-6.11.4, cache=lru, threads=1: up to 10% of the seconds below half the median
  stalls: rocksdb-6.11.4, cache=lru, threads=2: up to 10% of the seconds below half the median
  stalls: rocksdb-7.8.3, cache=lru, threads=1: up to 10% of the seconds below half the median
  stalls: rocksdb-7.8.3, cache=lru, threads=2: up to 10% of the seconds below half the median

relative QPS: cache=lru, threads=1
----------------------------------
  Relative to: rocksdb-7.8.3
  col-1 : rocksdb-6.11.4
  col-1  step
   1.00  fillseq
   1.00  readww
   1.00  overwrite

relative QPS: cache=lru, threads=2
----------------------------------
  Relative to: rocksdb-7.8.3
  col-1 : rocksdb-6.11.4
  col-1  step
   1.00  fillseq
   1.00  readww
   1.00  overwrite

relative QPS: cache=hyper, threads=1
------------------------------------
  Relative to: rocksdb-7.8.3
  col-1 : rocksdb-6.11.4
        col-1  step
         1.00  fillseq
  unsupported  readww
  unsupported  overwrite

relative QPS: cache=hyper, threads=2
------------------------------------
  Relative to: rocksdb-7.8.3
  col-1 : rocksdb-6.11.4
        col-1  step
         1.00  fillseq
  unsupported  readww
  unsupported  overwrite

response time: fillseq
----------------------
  p50  p99  p99.9  p99.99   pmax  version
  3.3   17     30      67  14649  rocksdb-6.11.4
  3.3   17     30      67  14649  rocksdb-7.8.3
  microseconds

response time: readww
---------------------
    p50  p99  p99.9  p99.99   pmax  version
  100.0  500    900    2000  14649  rocksdb-6.11.4 cache=lru threads=1
   50.0  250    450    1000  14649  rocksdb-6.11.4 cache=lru threads=2
                       unsupported  rocksdb-6.11.4 cache=hyper threads=1
                       unsupported  rocksdb-6.11.4 cache=hyper threads=2
  100.0  500    900    2000  14649  rocksdb-7.8.3 cache=lru threads=1
   50.0  250    450    1000  14649  rocksdb-7.8.3 cache=lru threads=2
   66.7  333    600    1333  14649  rocksdb-7.8.3 cache=hyper threads=1
                            failed  rocksdb-7.8.3 cache=hyper threads=2
  microseconds

response time: overwrite
------------------------
   p50  p99  p99.9  p99.99   pmax  version
  55.2  276    497    1105  14649  rocksdb-6.11.4 cache=lru threads=1
  27.6  138    249     552  14649  rocksdb-6.11.4 cache=lru threads=2
                      unsupported  rocksdb-6.11.4 cache=hyper threads=1
                      unsupported  rocksdb-6.11.4 cache=hyper threads=2
  55.2  276    497    1105  14649  rocksdb-7.8.3 cache=lru threads=1
  27.6  138    249     552  14649  rocksdb-7.8.3 cache=lru threads=2
  50.0  250    450    1000  14649  rocksdb-7.8.3 cache=hyper threads=1
                           failed  rocksdb-7.8.3 cache=hyper threads=2
  microseconds

reading     QPS: operations per second of the clients, median of the loads. 1.12 [1.08, 1.16]:
            geometric mean of the loads' ratios to the base, and its 95 % interval (all those of a
            step and base hold together)
            faster, slower: the whole interval is more than 2 % away from 1; same: all of it is
            less; inconclusive: neither
            floor: how far apart equal arms came out on this host; a ratio that is no farther from 1
            is no difference
page        outputs/summary/p-synthetic/index.html
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text(found):
    """The summary with attempts' times taken out."""
    return re.sub(r"\d{8}T[\d.]+Z", "TIME", summary.path(found.store, "p-synthetic").read_text(encoding="utf-8"))


def test_the_whole_text(here):
    found = scenario.experiment(here.relative_to(here))
    scenario.report(found)
    assert text(found) == TEXT
    assert max(map(len, text(found).splitlines())) <= 100


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
    lines = text(found).split("QPS relative to cache=lru, 95 % intervals\n")[1].split("\n\n")[0].splitlines()[1:]
    return [line[2 + len("overwrite") + 2 :] for line in lines if line.split()[0] in ("step", "readww")]


def test_arms_that_share_their_stages_are_the_same_run(here):
    found = complete(
        here, {"lru": [1000.0] * 3, "hyper": [900.0] * 3, "plain": [None] * 3}, alike=[("rocksdb-7.8.3", "plain")]
    )
    assert table(found) == [
        "cache=lru QPS  cache=hyper               cache=plain",
        "1,000          0.90 [0.89, 0.91] slower  same as cache=lru",
    ]
    assert "INCOMPLETE" not in text(found)


def test_noisy_equal_arms_are_inconclusive(here):
    found = complete(here, {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]})
    assert table(found)[1] == "1,000          1.00 [0.81, 1.23] inconclusive"


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
    assert text(found).splitlines()[2] == "INCOMPLETE: 2 of 15 measured steps have no figures yet (see status)."


def test_without_its_base_an_arm_shows_its_figure(here):
    found = complete(here, {"lru": [None, None], "hyper": [500.0, 501.0]})
    assert table(found)[1] == "missing        no base; 500 QPS"


def test_warnings_of_unlike_hosts_and_old_figures(here):
    found = complete(here, {"lru": [1000.0] * 2, "hyper": [900.0] * 2})
    result = found.store.result("s-7.8.3-hyper-1-1")
    for name, old, new in (("attempt.json", "6.1.0", "6.18.0"), ("result.json", "2026-11-20", "2026-12-01")):
        (result / name).write_text((result / name).read_text().replace(old, new))
    scenario.report(found)
    lines = text(found).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("warnings"))
    assert lines[start : start + 3] == [
        "warnings    the figures come from different settings of the host: kernel 6.1.0, 6.18.0",
        "            the figures were measured up to 11 days apart (2026-11-20 to 2026-12-01)",
        "compared    build: rocksdb-7.8.3",
    ]


def test_a_host_that_was_not_quiet(here):
    found = complete(here, {"lru": [1000.0] * 2, "hyper": [900.0] * 2})
    path = found.store.result("s-7.8.3-hyper-1-1") / "attempt.json"
    noise = {"warning": "others used 45% of a core: cc1plus 45%", "findings": []}
    path.write_text(json.dumps({**json.loads(path.read_text()), "noise": noise}))
    scenario.report(found)
    lines = text(found).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("warnings"))
    assert lines[start : start + 2] == [
        "warnings    the host was not quiet before 1 of 6 stages (readww of rocksdb-7.8.3, overwrite of",
        "            rocksdb-7.8.3): others used 45% of a core: cc1plus 45%",
    ]


def test_the_command(here, capsys):
    found = scenario.experiment(here.relative_to(here))
    assert command.main(["p-other"]) == 1
    assert command.main(["p-synthetic"]) == 1
    assert capsys.readouterr().err == (
        "summarize: there is no plan p-other under outputs/plans; start a run first\n"
        "summarize: the tables of plan p-synthetic are missing; first: python -m compiler.collect p-synthetic\n"
    )
    scenario.report(found)
    assert command.main(["p-synthetic"]) == 0
    assert capsys.readouterr().err == (
        "summarize: 6 of 54 measured steps have no figures; the report says so on top. Run again to measure them.\n"
    )
    assert command.main(["p-synthetic", "--partial"]) == 0
    assert capsys.readouterr().err == ""
    assert summary.path(Store(), "p-synthetic").is_file()
    assert summary.page_path(Store(), "p-synthetic").is_file()


def test_arms_that_share_their_stages_with_another_arm_are_judged_once(here):
    """`plain` is `hyper` under another name: not a second finding, and no figures of its own."""
    alike = {"alike": [("rocksdb-7.8.3", "plain")], "alike_to": "hyper"}
    found = complete(here, {"lru": [1000.0] * 3, "hyper": [900.0] * 3, "plain": [None] * 3}, **alike)
    assert table(found) == [
        "cache=lru QPS  cache=hyper               cache=plain",
        "1,000          0.90 [0.89, 0.91] slower  same as cache=hyper",
    ]
    assert "  plain  same as cache=hyper\n" in text(found)
    assert "readww, cache=plain against cache=lru: the same run as cache=hyper\n" in text(found)


def test_options_that_a_binary_lacks_are_said_on_top(here):
    found = complete(here, {"lru": [1000.0] * 2, "hyper": [900.0] * 2})
    step = found.store.result("s-7.8.3-hyper-1-1") / "steps/0-readww/step.json"
    step.write_text(json.dumps({**json.loads(step.read_text()), "dropped": ["async_io"]}))
    scenario.report(found)
    assert "left out    options that a binary lacks: async_io (rocksdb-7.8.3)\n" in text(found)


def test_without_a_difference_the_first_line_says_so(here):
    found = complete(here, {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]})
    assert text(found).splitlines()[2:4] == [
        "in short    no difference is certain: none is faster or slower beyond its noise",
        "            readww, cache=hyper against cache=lru: inconclusive (1.00x)",
    ]
