import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.language.problems import Location
from stepgrid.language.scalars import option_value, param_value
from stepgrid.language.yaml import Map, Text, merge_nodes

W = Location("a", 1, 1)
LEAF = st.sampled_from([Text("1", W), Text("2", W)])
TREE = st.recursive(LEAF, lambda t: st.dictionaries(st.sampled_from("abc"), t, max_size=3).map(lambda d: node(d)))


def node(items):
    return Map(items, W, dict.fromkeys(items, W))


@given(TREE)
def test_merging_nothing_or_itself_changes_nothing(tree):
    assert merge_nodes(tree, tree) == tree
    if isinstance(tree, Map):
        assert merge_nodes(tree, node({})) == tree


def leaves(tree, path=()):
    if not isinstance(tree, Map):
        return {path: tree}
    return {p: leaf for key, value in tree.items() for p, leaf in leaves(value, (*path, key)).items()}


@given(TREE, TREE)
def test_all_that_a_patch_says_holds_and_nothing_is_made_up(base, patch):
    merged = leaves(merge_nodes(base, patch))
    assert leaves(patch).items() <= merged.items()
    assert merged.items() <= leaves(base).items() | leaves(patch).items()


def test_maps_merge_lists_replace_null_removes():
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


def test_a_scale_patches_every_part(compile_text):
    plan = compile_text(SPEC, "smoke")
    assert [" ".join(cell.labels.values()) for cell in plan.cells] == [
        "rocksdb-7.8.3 5 b", "rocksdb-9.10.0 5 b", "rocksdb-7.8.3 5 c", "rocksdb-9.10.0 5 c",
    ]  # fmt: skip
    assert {build.source["suite"] for build in plan.builds} == {"sid"}
    step = plan.stages[0].steps[0]
    assert (step.settings["keys"], set(step.options)) == (1000, {"open_files", "num_levels", "x"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("-1", -1),
        ("0.5", 0.5),
        ("7.3e-05", 7.3e-05),
        ("1e3", 1000.0),
        ("true", True),
        ("false", False),
        ("off", "off"),
        ("OFF", "OFF"),
        ("8KiB", 8192),
        ("1.5GiB", 3 * 2**29),
        ("16M", "16M"),
        ("30s", "30s"),
        ("lru_cache", "lru_cache"),
    ],
)
def test_options_are_the_engines_own(text, value):
    assert option_value(text) == value
    assert type(option_value(text)) is type(value)


def test_what_is_quoted_stays_text():
    assert option_value("8", quoted=True) == "8"
    assert param_value("100M", quoted=True) == "100M"


@pytest.mark.parametrize(
    ("text", "value"), [("100M", 10**8), ("2MiB", 2**21), ("30m", 1800.0), ("x", "x"), ("true", True)]
)
def test_params_are_their_numbers(text, value):
    assert param_value(text) == value
