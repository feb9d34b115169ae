"""The algebra of cells: product - excluded + also, whatever the order of axes and keys."""

from itertools import product
from math import prod

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepgrid.language.problems import SpecError
from tests.cases import rows

BASE = """\
title: t
builds: {rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {system: db_bench}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq]}]
params: {keys: 1k}
"""
OPTIONS = ["bloom_bits", "num_levels", "block_size", "open_files"]
AXES = st.lists(st.integers(1, 4), min_size=1, max_size=4)
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def sweep(sizes, order):
    axes = (f"  a{n}: {{option: {OPTIONS[n]}, values: {list(range(1, sizes[n] + 1))}}}\n" for n in order)
    return "sweep:\n" + "".join(axes)


def labels(plan):
    return {frozenset(cell.labels.items()) for cell in plan.cells}


@quick
@given(AXES, st.data())
def test_count_is_product_less_excluded_plus_also(compile_text, sizes, data):
    axes = list(range(len(sizes)))
    points = list(product(*(range(1, size + 1) for size in sizes)))
    gone = data.draw(st.sets(st.sampled_from(points), max_size=len(points) - 1))
    again = data.draw(st.sets(st.sampled_from(sorted(gone)))) if gone else set()
    excluded = [" and ".join(f"a{n} == {point[n]}" for n in axes) for point in sorted(gone)]
    also = [{f"a{n}": point[n] for n in axes} | {"build": "rocksdb-9.10.0"} for point in sorted(again)]
    text = BASE + sweep(sizes, axes) + f"exclude: {excluded!r}\nalso: {also!r}\n"
    plan = compile_text(text)
    assert len(plan.cells) == 2 * (prod(sizes) - len(gone)) + len(again)
    assert len(labels(plan)) == len(plan.cells)


@quick
@given(AXES, st.data())
def test_cells_do_not_depend_on_the_order_of_axes(compile_text, sizes, data):
    axes = list(range(len(sizes)))
    order = data.draw(st.permutations(axes))
    one, other = (compile_text(BASE + sweep(sizes, o)) for o in (axes, order))
    assert labels(one) == labels(other)
    assert {stage.id for stage in one.stages} == {stage.id for stage in other.stages}


def cells(plan):
    return [" ".join(cell.labels.values()) for cell in plan.cells]


def test_an_axis_that_also_leaves_out_has_no_point(compile_text):
    text = BASE + "sweep: {bits: {option: bloom_bits, values: [5, 10]}}\nalso: [{build: rocksdb-7.8.3}]\n"
    plan = compile_text(text)
    assert cells(plan) == [
        "rocksdb-7.8.3 5", "rocksdb-9.10.0 5", "rocksdb-7.8.3 10", "rocksdb-9.10.0 10", "rocksdb-7.8.3",
    ]  # fmt: skip
    base = next(s for s in plan.stages if s.id == plan.cells[-1].repeats[0].stages[0])
    assert base.steps[0].options == {}


def test_builds_are_named_by_family_or_by_name(compile_text):
    more = BASE.replace("{rocksdb:", "{other: {engine: rocksdb, source: {system: x}}, rocksdb:")
    assert cells(compile_text(more + "sweep: {build: [rocksdb]}\n")) == ["rocksdb-7.8.3", "rocksdb-9.10.0"]
    assert cells(compile_text(more + "sweep: {build: [other, rocksdb-9.10.0]}\n")) == ["other", "rocksdb-9.10.0"]
    assert cells(compile_text(more + "exclude: [\"build == 'rocksdb'\"]\n")) == ["other"]


def test_a_point_may_stand_for_the_build(compile_text):
    text = BASE + "sweep: {kind: {old: {build: rocksdb-7.8.3}, new: {build: rocksdb-9.10.0, options: {a: 1}}}}\n"
    assert cells(compile_text(text)) == ["rocksdb-7.8.3 old", "rocksdb-9.10.0 new"]


def test_a_point_stands_only_where_its_when_holds(compile_text):
    axis = (
        "sweep: {cache: {lru: {options: {a: 1}}, hyper: {options: {a: 2}, when: \"has('auto_hyper_clock_cache')\"}}}\n"
    )
    assert cells(compile_text(BASE + axis)) == ["rocksdb-7.8.3 lru", "rocksdb-9.10.0 lru", "rocksdb-9.10.0 hyper"]


@pytest.mark.parametrize(("expression", "left"), rows(__file__, "exclude_compares_labels_and_values"))
def test_exclude_compares_labels_and_values(compile_text, expression, left):
    axes = "  bits: {option: bloom_bits, values: [5, 10]}\n  size: {option: block_size, values: [8KiB]}\n"
    text = BASE + "sweep:\n" + axes + f'exclude: ["{expression}"]\n'
    if left:
        assert len(compile_text(text).cells) == left
    else:
        with pytest.raises(SpecError, match="the sweep has no cells"):
            compile_text(text)
