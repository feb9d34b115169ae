"""Plans on disk: what is written is read."""

from stepgrid.model.plan import (
    SAME_QUALITY,
    CellStep,
    Option,
    Plan,
    PlannedAxis,
    PlannedBuild,
    PlannedCell,
    PlannedRepeat,
    PlannedReport,
    PlannedStage,
    PlannedStep,
    encode,
)
from stepgrid.model.records import replace
from stepgrid.plan import plan_file
from stepgrid.store import plans


def a_plan(ids):
    step = PlannedStep("fillseq", "db_bench", 1, {"keys": 10, "benchmarks": ["fillseq"]}, {"bloom_bits": Option(10)}, 7)
    stages = tuple(
        PlannedStage(
            id=i,
            title=f"ä {i}",
            build="b-1",
            parent=None,
            children=(),
            load=0,
            run=0,
            hardware="h",
            steps=(step,),
            seconds=1.5,
            rank=n,
        )
        for n, i in enumerate(sorted(ids))
    )
    cell = PlannedCell(
        "c-1", {"build": "x"}, "b-1", (CellStep("fillseq", "db_bench", 0, 0, True),), (PlannedRepeat(0, 0, ("s-1",)),)
    )
    build = PlannedBuild("b-1", "x", "rocksdb", "7.8.3", {"system": "db_bench"})
    axes = (PlannedAxis("build", ("x",)), PlannedAxis("t", ("1",), ("fillseq",)))
    return Plan(
        "d", "title", "a.yaml", None, axes, (cell,), (build,), stages, {"id": "h"}, PlannedReport({"build": "x"})
    )


def test_what_is_written_is_read(tmp_path):
    plan = a_plan(["s-1", "s-2"])
    plans.write(plan, tmp_path / "d")
    assert plan_file.read(tmp_path / "d") == plan
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["d"]


def test_writing_again_changes_nothing(tmp_path):
    plans.write(a_plan(["s-1"]), tmp_path / "d")
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "d").iterdir()}
    plans.write(a_plan(["s-1"]), tmp_path / "d")
    assert {p.name: p.stat().st_mtime_ns for p in (tmp_path / "d").iterdir()} == before


def test_bytes_do_not_depend_on_the_order_of_keys():
    assert encode({"b": 1, "a": 2}) == encode({"a": 2, "b": 1})


def test_what_a_spec_says_of_builds_that_differ_is_written_only_where_it_does(tmp_path):
    """Plans without it keep the digests that they had before there was such a thing."""
    usual = a_plan(["s-1"])
    assert not any(key in plan_file.text(usual) for key in ("as_shipped", "strict", "mixed_durability"))
    for key, value in (("as_shipped", "products"), ("strict", SAME_QUALITY), ("mixed_durability", "the question")):
        changed = replace(usual, report=replace(usual.report, **{key: value}))
        plans.write(changed, tmp_path / key)
        assert plan_file.read(tmp_path / key).report == changed.report
        assert plan_file.digest(changed) != plan_file.digest(usual)


def test_the_values_of_secrets_are_kept_for_jobs_and_stand_in_no_plan(compile_text):
    text = 'launch: {env: {MY_PASSWORD: hunter22}}\nsteps: [{name: a, kind: command, argv: ["true"]}]\n'
    plan = compile_text(f'title: t\nbuilds: {{sh: {{engine: program, version: "1", source: {{system: sh}}}}}}\n{text}')
    assert [secret.value for secret in plans.secrets(plan)] == ["hunter22"]
    assert "hunter22" not in plan_file.text(plan)
