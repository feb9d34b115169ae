"""The summary of one experiment, to the letter."""

import pytest

from tests.summarize import scenario

TEXT = """\
LRU against hyper-clock cache
=============================
INCOMPLETE: 6 of 54 measured steps have no figures yet (see status).
in short    `cache=hyper` is faster than `cache=lru` at 2 of 2 points, 1.10× to 1.50×; strongest:
            readww, rocksdb-7.8.3, threads=1 [1.49, 1.51]; 2 failed, 4 unsupported
            `rocksdb-6.11.4` is the same as `rocksdb-7.8.3` within 2 % at 5 of 5 points; 4
            unsupported (as shipped)
            Ratios are of QPS to the base: above 1 is faster.
claims      This spec makes no claims.
warnings    rocksdb-6.11.4: Assertions are enabled; benchmarks unnecessarily slow
            builds are compared as shipped, though made differently: suite bullseye / bookworm
compared    build: rocksdb-6.11.4, rocksdb-7.8.3 (base)
            cache: lru (base), hyper
            threads: 1, 2
steps       fillseq: 4.00 s, 300,000 QPS; readww: 4.00 s, 10,000 to 20,000 QPS; overwrite: 4.00 s to
            10.0 s, 18,100 to 36,200 QPS
builds      rocksdb-6.11.4: 6.11.4 (debian, rocksdb-tools 6.11.4-1)
            rocksdb-7.8.3: 7.8.3 (debian, rocksdb-tools 7.8.3-1)
repeats     3 loads planned
host        AMD EPYC 7763, 2 cores, 8 GiB, xfs on nvme0n1, kernel 6.1.0
measured    2026-11-20
made from   spec specs/cache.yaml; plan p-synthetic; stepgrid 0.1.0
status      36 done, 12 unsupported, 2 failed, 4 missing (measured steps)
            missing: 4 runs: not run yet
              in rocksdb-7.8.3, cache=hyper, threads=2, step=readww and 1 more
            failed: 2 runs: readww: db_bench was killed by SIGKILL
              in rocksdb-7.8.3, cache=hyper, threads=2, step=readww and 1 more
              log: outputs/attempts/s-7.8.3-hyper-2-0/TIME/steps/0-readww/stderr
            unsupported: 12 runs: rocksdb-6.11.4 has no option cache_type

what the arms set
-----------------
  all arms: cache_type lru_cache

what the steps do
-----------------
  fillseq (db_bench): benchmarks [fillseq]; keys 1000; a run took 4.00 s
  readww (db_bench): benchmarks [readwhilewriting]; keys 1000; a run took 4.00 s
  overwrite (db_bench): benchmarks [overwrite]; keys 1000; a run took 4.00 s to 10.0 s
  db_bench: `benchmarks`: db_bench's benchmarks in order; the first is the one that is measured;
    `keys`: keys of the database (--num)

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
  ratios: geometric means over the loads, each load to the same load of the base

why: differences from cache=lru
-------------------------------
  cache=hyper, readww, rocksdb-7.8.3, threads=1: 1.50×: CPU 50 → 33.3 (0.67×) µs per operation, 50 %
    of the time
  cache=hyper, overwrite, rocksdb-7.8.3, threads=1: 1.10×: no cause among CPU, device, context
    switches, misses and stalls

QPS relative to rocksdb-7.8.3, 95 % intervals
---------------------------------------------
  step       cache  threads  rocksdb-7.8.3 QPS  floor    rocksdb-6.11.4
  fillseq    -      -        300,000            -        1.000 [0.996, 1.004] same ‡
  readww     lru    1        10,000             0.333 %  1.000 [0.996, 1.004] same ‡
  readww     lru    2        20,000             0.333 %  1.000 [0.996, 1.004] same ‡
  readww     hyper  1        15,000             -        unsupported
  readww     hyper  2        failed             -        unsupported
  overwrite  lru    1        18,100             0.333 %  1.000 [0.996, 1.004] same ‡
  overwrite  lru    2        36,200             0.333 %  1.000 [0.996, 1.004] same ‡
  overwrite  hyper  1        20,000             -        unsupported
  overwrite  hyper  2        failed             -        unsupported
  ‡ as shipped: rocksdb-7.8.3 and rocksdb-6.11.4 were built differently: suite bookworm / bullseye

fillseq: absolute figures, medians of the loads; p50 to p99.9 and CPU/op in µs
------------------------------------------------------------------------------
  build           QPS      lowest-highest   p50   p99   p99.9  CPU/op
  rocksdb-6.11.4  300,000  297,000-303,000  3.33  16.7  30.0   1.67
  rocksdb-7.8.3   300,000  297,000-303,000  3.33  16.7  30.0   1.67
  a run took 4.00 s

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
  a run took 4.00 s

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
  a run took 4.00 to 10.0 s
  stalls: rocksdb-6.11.4, cache=lru, threads=1: up to 10 % of the seconds below half the median
  stalls: rocksdb-6.11.4, cache=lru, threads=2: up to 10 % of the seconds below half the median
  stalls: rocksdb-7.8.3, cache=lru, threads=1: up to 10 % of the seconds below half the median
  stalls: rocksdb-7.8.3, cache=lru, threads=2: up to 10 % of the seconds below half the median

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

the same ratios, to be pasted: relative QPS (4 tables):
  stepgrid report specs/cache.yaml --table "relative QPS"

what next
---------
  stepgrid run specs/cache.yaml
    measures what has no figures yet, and nothing twice
  stepgrid explain specs/cache.yaml
    every option and setting of every cell, with the line that it comes from
  stepgrid compare p-synthetic specs/cache.yaml
    later results beside these: after a change, or of another day

reading     QPS: operations per second of the clients, median of the loads. 1.12 [1.08, 1.16]:
            geometric mean of the loads' ratios to the base, and its 95 % interval (all those of a
            step and base hold together)
            faster, slower: the whole interval is more than 2 % away from 1; same: all of it is
            less; different: the interval excludes 1, and an end of it is within 2 %; inconclusive:
            none of these
            floor: how far apart equal arms came out in this experiment (loads, runs and older
            results of a step and engine); a ratio that is no farther from 1 is no difference
page        outputs/summary/p-synthetic/index.html
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_whole_text(here):
    found = scenario.experiment(here.relative_to(here))
    scenario.report(found)
    assert scenario.text(found) == TEXT
    assert max(map(len, scenario.text(found).splitlines())) <= 100
