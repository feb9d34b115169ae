"""Designs keep what they promise: pairs are covered, fractions are balanced, no row is outside of the grid."""

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stepgrid.language.problems import SpecError
from stepgrid.plugins.design import DesignError, DesignRequest, Factor
from stepgrid.plugins.registry import DESIGNS

LEVELS = st.lists(st.integers(1, 5), min_size=1, max_size=6)
NAMES = ("fractional", "latin", "one-at-a-time", "pairs", "sample")
quick = settings(max_examples=25, deadline=None)


def rows(name, levels, number=None, seed=1, allows=lambda row: True, deciding=0):
    """Axes a, b, c …, the first `deciding` of which decide a load."""
    factors = tuple(Factor("abcdefghijklmnopqrst"[at], count, 0, at < deciding) for at, count in enumerate(levels))
    plugin = DESIGNS.get(name)
    return list(plugin.choose(DesignRequest(factors, number or plugin.default, seed, allows)).rows)


@pytest.mark.parametrize("name", NAMES)
@quick
@given(LEVELS, st.integers(0, 9), st.data())
def test_each_row_is_a_cell_once_and_a_seed_gives_one_design(name, levels, seed, data):
    grid = [*product(*map(range, levels))]
    gone = data.draw(st.sets(st.sampled_from(grid), max_size=len(grid) // 3))
    deciding = data.draw(st.integers(0, len(levels)))
    try:
        first, second = (rows(name, levels, 12, seed, lambda row: row not in gone, deciding) for _ in range(2))
    except DesignError:  # of axes that it does not take, or without its base
        assume(False)
    assert first == second
    assert len(set(first)) == len(first)
    assert set(first) <= {*grid} - gone
    assert (0,) * len(levels) in {*first, *gone}  # the base
    if name == "sample":
        assert len(first) == min(12, len(grid) - len(gone))


@quick
@given(LEVELS, st.integers(0, 3), st.data())
def test_each_pair_that_the_grid_has_is_covered(levels, deciding, data):
    grid = [*product(*map(range, levels))]
    gone = data.draw(st.sets(st.sampled_from(grid), max_size=len(grid) // 2))

    def covered(cells):
        return {pair for row in cells for pair in combinations(enumerate(row), min(2, len(row)))}

    chosen = rows("pairs", levels, None, 1, lambda row: row not in gone, deciding)
    assert covered(chosen) == covered([row for row in grid if row not in gone])
    assert len(chosen) <= len(grid)


def test_pairs_of_many_values_take_seconds_or_are_refused():
    chosen = rows("pairs", (20,) * 6)
    assert len({(row[2], row[4]) for row in chosen}) == 400
    with pytest.raises(DesignError, match="at least 3,600 rows"):
        rows("pairs", (60,) * 20)


@pytest.mark.parametrize(
    ("levels", "resolution", "count"),
    [
        ((2,) * 7, 3, 8),
        ((2,) * 8, 4, 16),
        ((2,) * 5, 5, 16),
        ((3,) * 4, 3, 9),
        ((3,) * 6, 4, 81),
        ((2, 2, 3, 3, 3), 4, 108),
    ],
)
def test_a_fraction_is_as_small_as_the_published_one_and_balanced(levels, resolution, count):
    """Any so many columns as the resolution less one have all combinations of their values equally often."""
    chosen = rows("fractional", levels, resolution)
    assert len(chosen) == count
    for columns in combinations(range(len(levels)), min(resolution - 1, len(levels))):
        assert len(set(Counter(tuple(row[at] for at in columns) for row in chosen).values())) == 1


@pytest.mark.parametrize("levels", [(3, 3, 3, 3), (4,) * 5, (6, 6, 6), (5, 5), (3,) * 6])
def test_in_a_latin_square_values_meet_each_other(levels):
    chosen = rows("latin", levels)
    for columns in combinations(range(len(levels)), 2):
        assert {tuple(row[at] for at in columns) for row in chosen} == {
            *product(*(range(levels[at]) for at in columns))
        }


@quick
@given(st.lists(st.integers(2, 4), min_size=2, max_size=5), st.integers(2, 12), st.integers(1, 12))
def test_a_larger_sample_goes_on_and_uses_values_equally_often(levels, number, more):
    larger = rows("sample", levels, number + more)
    assert larger[:number] == rows("sample", levels, number)
    if len(larger) * 2 < len([*product(*map(range, levels))]):
        for column in zip(*larger, strict=True):
            counts = Counter(column).values()
            assert max(counts) - min(counts) <= 3  # loads that are shared come first


def test_a_value_more_adds_one_row_to_one_at_a_time():
    assert {*rows("one-at-a-time", (3, 4, 2))} - {*rows("one-at-a-time", (3, 3, 2))} == {(0, 3, 0)}


@pytest.mark.parametrize(("name", "number", "loads"), [("sample", 40, 10), ("pairs", None, 9), ("fractional", 4, 9)])
def test_what_shares_loads_is_preferred(name, number, loads):
    """Two axes of three values decide a load, four do not: a design has few loads, of each value."""
    chosen = rows(name, (3,) * 6, number, deciding=2)
    assert len({row[:2] for row in chosen}) <= loads
    assert {row[0] for row in chosen} == {row[1] for row in chosen} == {0, 1, 2}


SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: readrandom, kind: db_bench, benchmarks: [readrandom]}
params: {keys: 1k}
sweep:
  cache: {option: cache_size, values: [8MiB, 16MiB, 32MiB], from: loaded}
  bits: {option: bloom_bits, values: [4, 8, 16]}
  threads: {param: threads, values: [1, 2, 4], from: loaded}
report: {base: {cache: 16MiB}}
"""


def test_a_design_composes_with_exclude_also_from_and_scales(compile_text):
    def cells(plan):
        return {tuple(cell.labels[name] for name in ("cache", "bits", "threads")) for cell in plan.cells}

    whole = compile_text(SPEC)
    plan = compile_text(
        SPEC + "design: one-at-a-time\nexclude: [bits == 8]\nalso: [{cache: 8MiB, bits: 4, threads: 1}]\n"
    )
    assert cells(plan) == {
        ("16MiB", "4", "1"), ("8MiB", "4", "1"), ("32MiB", "4", "1"), ("16MiB", "16", "1"), ("16MiB", "4", "2"),
        ("16MiB", "4", "4"),
    }  # fmt: skip
    assert {stage.id for stage in plan.stages} <= {stage.id for stage in whole.stages}  # results stay
    assert (plan.design.title, plan.design.points) == ("one-at-a-time", 27)
    assert len({cell.repeats[0].stages[0] for cell in plan.cells}) == 2
    scaled = SPEC + "design: {sample: 12}\nscales: {try: {design: pairs}}\n"
    assert len(compile_text(scaled).cells) == 12
    assert len(compile_text(scaled, scale="try").cells) == 9
    assert whole.design is None
    bare = SPEC.partition("sweep:")[0]
    assert [len(compile_text(f"{bare}design: {name}\n").cells) for name in ("latin", "pairs")] == [1, 1]


@pytest.mark.parametrize(
    ("name", "ends", "labels"),
    [
        ("duration", "10s, 1m", "10s 20s 40s 60s"),
        ("cache_size", "1GiB, 1536MiB", "1GiB 1088MiB 1152MiB 1216MiB 1280MiB 1344MiB 1408MiB 1472MiB 1536MiB"),
        ("keys", "100B, 400B", "100000000000 200000000000 400000000000"),
        ("max_open_files", "9007199254740993, 9007199254740995", "9007199254740993 9007199254740994 9007199254740995"),
    ],
)
def test_a_range_keeps_its_unit_and_its_digits(name, ends, labels, compile_text):
    spec = SPEC.partition("sweep:")[0].replace("keys: 1k", "keys: 1k, duration: 10s")
    plan = compile_text(f"{spec}tune: {{for: max qps, over: {{{name}: [{ends}]}}, tries: 20}}\n")
    assert " ".join(plan.tune.axes[0].labels).startswith(labels)


def test_points_that_a_search_added_stay_with_its_values(compile_text):
    """Both measure the same two points first, and add others."""
    spec = SPEC.partition("sweep:")[0] + "tune: {for: max qps, tries: 4, over: {cache_size: [4MiB, 8MiB, 32MiB]}}\n"
    plan, other = compile_text(spec), compile_text(spec.replace("8MiB", "16MiB"))
    assert {stage.id for stage in plan.stages} == {stage.id for stage in other.stages}
    assert plan.tune
    assert other.tune
    assert plan.tune.key != other.tune.key


def test_a_grid_too_large_to_list_has_a_design(compile_text):

    points = "".join(f"  o{at}: {{option: {name}, values: [1, 2, 3]}}\n" for at, name in enumerate(OPTIONS))
    spec = SPEC.replace("report:", points + "report:")
    with pytest.raises(SpecError, match="the sweep is too large"):
        compile_text(spec)
    plan = compile_text(spec + "design: pairs\n")
    assert plan.design.points == 3**11
    assert len(plan.cells) < 40


OPTIONS = (
    *("max_background_jobs", "max_write_buffer_number", "level0_slowdown_writes_trigger", "min_level_to_compress"),
    *(
        "level0_file_num_compaction_trigger",
        "level0_stop_writes_trigger",
        "max_bytes_for_level_multiplier",
        "num_levels",
    ),
)


def test_an_exclude_calculates_with_labels(compile_text):
    plan = compile_text(SPEC + "exclude: [cache * threads + 1 > 33 * 1024 * 1024, bits * 2 == 16]\n")
    cells = {(cell.labels["cache"], cell.labels["threads"]) for cell in plan.cells}
    assert cells == {("8MiB", "1"), ("8MiB", "2"), ("8MiB", "4"), ("16MiB", "1"), ("16MiB", "2"), ("32MiB", "1")}
    assert {cell.labels["bits"] for cell in plan.cells} == {"4", "16"}
