"""Axes: points that are generated."""

from tests.expand.samples import BASE, labels


def option(plan, name):
    """Label of the axis `a` -> the option's value in the measured step."""
    stages = {stage.id: stage for stage in plan.stages}
    return {cell.labels["a"]: stages[cell.repeats[0].stages[-1]].steps[-1].options[name].value for cell in plan.cells}


def test_generated_points_beside_named_ones(compile_text):
    axis = """
  a:
    from: loaded
    points: {base: {options: {block_size: 4096, num_levels: 3}}}
    each: [8KiB, 32KiB]
    as: window
    name: "sd{{ window // 1024 }}k"
    options: {block_size: "{{ window }}", num_levels: "{{ window // 8192 }}"}
"""
    plan = compile_text(BASE + "sweep:" + axis)
    assert labels(plan, "a") == ["base", "sd8k", "sd32k"]
    assert option(plan, "block_size") == {"base": 4096, "sd8k": 8192, "sd32k": 32768}
    assert option(plan, "num_levels") == {"base": 3, "sd8k": 1, "sd32k": 4}


def test_a_list_of_groups_each_with_its_own_condition(compile_text):
    axis = """
  a:
    points:
      - {each: [4, 5], as: m, name: "m{{ m }}", when: "version < '8'", options: {num_levels: "{{ m }}"}}
      - {each: [{m: 8, e: 32}, {m: 16, e: 32}], as: p, name: "m{{ p.m }}-e{{ p.e }}", when: "version > '8'",
         options: {num_levels: "{{ p.m }}", block_size: "{{ p.e }}"}}
"""
    plan = compile_text(BASE + "sweep:" + axis)
    assert [cell.labels["build"] + " " + cell.labels["a"] for cell in plan.cells] == [
        "rocksdb-7.8.3 m4", "rocksdb-7.8.3 m5", "rocksdb-9.10.0 m8-e32", "rocksdb-9.10.0 m16-e32",
    ]  # fmt: skip
    assert option(plan, "num_levels") == {"m4": 4, "m5": 5, "m8-e32": 8, "m16-e32": 16}
