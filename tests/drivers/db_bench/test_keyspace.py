"""What the steps before leave in a database, against what db_bench printed, and against counting keys one by one."""

import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid_databases.drivers.db_bench.keyspace import EMPTY, Keyspace, hit_rates


class Step(NamedTuple):
    kind: str
    settings: dict[str, Any]
    options: dict[str, Any]


def step(*benchmarks, options=None, kind="db_bench", **settings):
    return Step(kind, {"benchmarks": benchmarks, "keys": 20_000, **settings}, options or {})


LOAD = step("fillseq", fresh=True)
RANDOM = step("fillrandom", fresh=True)
READ = step("readrandom")
FAR = step("readrandom", keys=40_000)
OTHER = Step("command", {"argv": ["ldb"]}, {})


# each as db_bench 7.8.3 and 9.10.0 printed it for these steps, of 20,000 or 40,000 lookups
@pytest.mark.parametrize(
    ("steps", "printed"),
    [
        ([LOAD, READ], 1.0),
        ([RANDOM, READ], 0.636),
        ([RANDOM, step("multireadrandom")], 0.634),
        ([RANDOM, step("seekrandom")], 0.631),
        ([step("filluniquerandom", fresh=True), READ], 1.0),
        ([step("filluniquerandom", fresh=True, writes=5000), READ], 0.249),
        ([step("fillseq", fresh=True, threads=2), READ], 1.0),
        ([step("fillbatch", fresh=True), READ], 1.0),
        ([LOAD, step("deleterandom", options={"deletes": 5000}), READ], 0.7736),
        ([LOAD, step("overwrite", keys=40_000), FAR], 0.815),
        ([LOAD, step("overwrite", keys=40_000), step("updaterandom", keys=40_000), FAR], 0.9295),
        ([LOAD, step("overwrite", keys=40_000), step("mixgraph", keys=20_000)], 1.0),
    ],
)
def test_what_db_bench_finds(steps, printed):
    rate = hit_rates(steps)[-1]
    assert rate is not None
    assert rate == pytest.approx(printed, abs=0.01)


def test_deletes_from_the_first_key_on():
    """7.8.3 printed 8,078, 9.10.0 7,709 of 20,000."""
    steps = [
        LOAD,
        step("deleterandom", options={"deletes": 5000}),
        step("deleteseq", options={"deletes": 10_000}),
        READ,
    ]
    assert hit_rates(steps)[-1] == pytest.approx(0.5 * math.exp(-0.25))
    assert hit_rates([LOAD, step("deleteseq"), READ])[-1] == 0


def test_keys_beyond_those_that_were_loaded_are_expected_too():
    assert hit_rates([LOAD, FAR])[-1] == 1
    assert hit_rates([RANDOM, FAR])[-1] == pytest.approx(1 - math.exp(-1))
    assert hit_rates([step("readrandom", fresh=True), READ]) == [0, 0]


@pytest.mark.parametrize(
    "steps",
    [
        [READ],  # what it begins with is not known
        [LOAD, step("readmissing")],
        [LOAD, step("overwrite")],
        [LOAD, step("readseq")],
        [OTHER, READ],
        [LOAD, OTHER, READ],
        [step("fillrandom", fresh=True, duration=10.0), READ],
        [step("filluniquerandom", fresh=True, writes=30_000), READ],
        [step("fillsync", fresh=True), READ],
        [LOAD, step("deleterandom", duration=10.0), READ],
        [LOAD, step("overwrite", keys=40_000, duration=10.0), FAR],
        [LOAD, step("readwhilewriting", keys=40_000), FAR],
        [LOAD, step("randomwithverify"), READ],
        [LOAD, step("deleterandom"), step("mixgraph")],
        [LOAD, step("readrandom", options={"use_existing_keys": True})],
        [LOAD, step("readrandom", options={"compaction_style": 2}), READ],
        [step("fillseq", fresh=True, options={"num_column_families": 4}), READ],
        [Step("db_bench", {}, {}), READ],
    ],
)
def test_what_cannot_be_known(steps):
    assert hit_rates(steps)[-1] is None


@pytest.mark.parametrize(
    "between",
    [
        step("overwrite", duration=10.0),
        step("levelstats", "flush", "waitforcompaction", "stats"),
        step("readwhilewriting"),
        step("fillseq"),  # skipped: the database is there
        step("readrandom", options={"compaction_style": 1, "num_column_families": 1}),
        Step("quiesce", {"timeout": 5}, {}),
    ],
)
def test_what_takes_no_key_away(between):
    assert hit_rates([LOAD, between, READ])[-1] == 1


def test_a_fresh_step_begins_anew():
    assert hit_rates([LOAD, RANDOM, READ])[-1] == pytest.approx(1 - math.exp(-1))
    assert hit_rates([step("fillseq", "fillrandom", fresh=True), READ])[-1] == pytest.approx(1 - math.exp(-1))
    assert hit_rates([LOAD, step("overwrite", fresh=True), READ])[-1] == pytest.approx(1 - math.exp(-1))


CHANGES = st.lists(st.tuples(st.integers(1, 12), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=6)


@given(CHANGES, st.integers(1, 14))
def test_shares_are_those_of_the_keys_one_by_one(changes, keys):
    space, shares = EMPTY, [0.0] * 14
    for upto, factor in changes:
        space = space.change(upto, lambda share, factor=factor: 1 - (1 - share) * factor)
        shares = [1 - (1 - s) * factor if key < upto else s for key, s in enumerate(shares)]
    assert space.share(keys) == pytest.approx(sum(shares[:keys]) / keys)
    assert space.end == max((key + 1 for key, share in enumerate(shares) if share > 0), default=0)
    assert space.is_full(keys) == all(share == 1 for share in shares[:keys])
    ends = [end for end, _ in space.parts]
    assert ends == sorted(set(ends))


def test_an_empty_database_has_no_key():
    assert (EMPTY.end, EMPTY.share(5), EMPTY.is_full(5)) == (0, 0, False)
    assert Keyspace(((4, 1.0),)).is_full(4)
