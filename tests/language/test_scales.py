from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.language.problems import Location
from stepgrid.language.yaml import Map, Text, merge_nodes
from stepgrid.model.plan import Plan

W = Location("a", 1, 1)
LEAF = st.sampled_from([Text("1", W), Text("2", W)])
TREE = st.recursive(LEAF, lambda t: st.dictionaries(st.sampled_from("abc"), t, max_size=3).map(lambda d: node(d)))


def node(items: dict[str, object]) -> Map:
    return Map(items, W, dict.fromkeys(items, W))  # type: ignore[arg-type]


@given(TREE)
def test_merging_nothing_or_itself_changes_nothing(tree: Map) -> None:
    assert merge_nodes(tree, tree) == tree
    if isinstance(tree, Map):
        assert merge_nodes(tree, node({})) == tree


def leaves(tree: object, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    if not isinstance(tree, Map):
        return {path: tree}
    return {p: leaf for key, value in tree.items() for p, leaf in leaves(value, (*path, key)).items()}


@given(TREE, TREE)
def test_all_that_a_patch_says_holds_and_nothing_is_made_up(base: Map, patch: Map) -> None:
    merged = leaves(merge_nodes(base, patch))
    assert leaves(patch).items() <= merged.items()
    assert merged.items() <= leaves(base).items() | leaves(patch).items()


def test_maps_merge_lists_replace_null_removes() -> None:
    base = node({"m": node({"x": Text("1", W), "y": Text("2", W)}), "source": node({"git": Text("u", W)})})
    patch = node({"m": node({"x": None, "z": Text("3", W)}), "source": node({"debian": Text("p", W)})})
    assert merge_nodes(base, patch) == {"m": {"y": "2", "z": "3"}, "source": {"debian": "p"}}


SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 9.9.3, source: {system: db_bench}, options: {bloom_bits: 1}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq]}]
params: {keys: 100M}
sweep:
  bits: [1, 2]
  levels: {option: num_levels, values: [3, 4]}
  mode: {a: {options: {x: 1}}, b: {options: {x: 2}}}
exclude: ["mode == 'b'"]
scales:
  smoke:
    builds:
      rocksdb: {versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: sid}, options: {open_files: 1}}
    params: {keys: 1k}
    sweep: {bits: null, levels: {values: [5]}, mode: {a: null, c: {options: {x: 3}}}}
    exclude: null
"""


def test_a_scale_patches_every_part(compile_text: Callable[..., Plan]) -> None:
    plan = compile_text(SPEC, "smoke")
    assert [" ".join(cell.labels.values()) for cell in plan.cells] == [
        "rocksdb-7.8.3 5 b", "rocksdb-9.10.0 5 b", "rocksdb-7.8.3 5 c", "rocksdb-9.10.0 5 c",
    ]  # fmt: skip
    assert {build.source["suite"] for build in plan.builds} == {"sid"}
    step = plan.stages[0].steps[0]
    assert (step.settings["keys"], set(step.options)) == (1000, {"open_files", "num_levels", "x"})
