"""Builds in a plan: what holds them still, and the ids that they keep."""

import hashlib
from pathlib import Path

import pytest

from stepgrid.build.pins import pin
from stepgrid.language import lock_file
from stepgrid.language.files import tree_checksum
from stepgrid.language.problems import Problems
from stepgrid.plan import identity
from stepgrid.plan.assembly import CompileContext, ExistingBuild, check_scales, compile_spec
from stepgrid.plan.difference import differences
from tests.plan.test_difference import chain

HOST = {"cpu": "a", "cores": 2, "memory": 2**33}
REST = """\
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
"""
GIT = '{git: "https://example.org/r.git", ref: "v{{ version }}"}'
JAR = "{maven: 'org.rocksdb:rocksdbjni'}"
V1, V2 = "git https://example.org/r.git v1.0.1", "git https://example.org/r.git v1.0.2"
COMMIT, OTHER, CHECKSUM = "5ec0ffee" * 5, "0ddba11a" * 5, "5ec0ffee" * 8


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(builds, rest="", problems=None, spec="a.yaml"):
    Path(spec).write_text(f"title: t\nbuilds: {{{builds}}}\n{REST}{rest}")
    return compile_spec(spec, None, HOST, problems, CompileContext(pin_source=pin))


def built(builds, spec="a.yaml"):
    return compiled(builds, spec=spec).builds[0]


def of(source, more=""):
    return f"r: {{engine: rocksdb, version: 1.0.1, source: {source}{more}}}"


def held(pins):
    lock_file.path("a.yaml").write_text(lock_file.text(pins))
    return compiled(f"r: {{engine: rocksdb, versions: [1.0.1, 1.0.2], source: {GIT}}}")


def test_a_pin_is_of_one_source_and_in_the_id_of_its_build_alone():
    one, other = held({V1: COMMIT, V2: OTHER}), held({V1: OTHER, V2: OTHER})
    assert {build.version: build.pins for build in one.builds} == {"1.0.1": {V1: COMMIT}, "1.0.2": {V2: OTHER}}
    assert {build.version for build in other.builds if build.id not in {b.id for b in one.builds}} == {"1.0.1"}
    assert {build.pin for build in held({}).builds} == {""}


def test_what_says_itself_what_it_is_takes_no_pin():
    lock_file.path("a.yaml").write_text(lock_file.text({f"git https://example.org/r.git {COMMIT}": OTHER}))
    assert built(of(f'{{git: "https://example.org/r.git", ref: {COMMIT}}}')).pins == {}


def test_patches_are_their_contents_in_order(folder, monkeypatch):
    (folder / "a.patch").write_text("one")
    (folder / "b.patch").write_text("two")
    both = built(of(GIT, ", patches: [a.patch, b.patch]"))
    assert both.recipe == {
        "patches": [
            {"path": "a.patch", "sha256": hashlib.sha256(b"one").hexdigest()},
            {"path": "b.patch", "sha256": hashlib.sha256(b"two").hexdigest()},
        ]
    }
    swapped = built(of(GIT, ", patches: [b.patch, a.patch]"))
    (folder / "x").mkdir()
    (folder / "x" / "c.patch").write_text("one")
    (folder / "site.yaml").write_text("roots: [.]\n")  # for what is above x/
    monkeypatch.setenv("STEPGRID_SITE", "site.yaml")
    moved = built(of(GIT, ", patches: [c.patch, ../b.patch]"), "x/b.yaml")
    assert moved.recipe["patches"][0]["path"] == "x/c.patch"
    assert moved.id == both.id != swapped.id
    (folder / "a.patch").write_text("three")
    assert built(of(GIT, ", patches: [a.patch, b.patch]")).id != both.id


def test_a_local_tree_is_its_content(folder):
    for name in ("one", "x/other"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.c").write_text("int a;")
    first, second = built(of("{path: one}")), built(of("{path: other}"), "x/b.yaml")
    assert (first.source, second.source) == ({"path": "one"}, {"path": "x/other"})
    assert first.pins == {"path one": tree_checksum(folder / "one")}
    assert first.id == second.id
    source = '{maven: "org.rocksdb:rocksdbjni", tree: {path: other}}'
    joined = built(of(source), "x/b.yaml")  # beside an artifact
    assert joined.pins == {"path x/other": tree_checksum(folder / "x" / "other")}
    for name in ("one", "x/other"):
        (folder / name / "a.c").write_text("int b;")
    assert built(of("{path: one}")).id != first.id
    assert built(of(source), "x/b.yaml").id != joined.id


def test_an_entry_that_no_scale_uses():
    lock_file.path("a.yaml").write_text(lock_file.text({V1: COMMIT, V2: COMMIT}))
    problems = Problems()
    compiled(of(GIT), problems=problems)
    assert [str(p.where) for p in problems.warnings if p.code == "lock-unused"] == ["a.lock.yaml:5:3"]
    scales = "scales: {s: {builds: {r: {version: %s}}}}\n"
    assert _unused(scales % "1.0.2") == []
    assert _unused(scales % "1.0.3") == [f"the spec has no source `{V2}`"]


def _unused(scales):
    problems = Problems()
    plan = compiled(of(GIT), scales, problems)
    assert "lock-unused" not in {problem.code for problem in problems.items}  # a scale may use it
    check_scales("a.yaml", HOST, problems, base=plan)
    return [problem.message for problem in problems.items if problem.code == "lock-unused"]


def test_another_program_of_a_system_counts_and_earlier_ids_stay(folder):
    """A replaced second program said "run the same command again" for ever."""
    (folder / "bin").mkdir()
    build = (
        f"mine: {{engine: program, version: '1', source: {{system: {folder}/bin/one}}, flags: {{programs: one two}}}}"
    )
    rest = "steps: [{name: s, kind: command, argv: ['{program:two}']}]\n"
    Path("a.yaml").write_text(f"title: t\nbuilds: {{{build}}}\n{rest}")

    def planned(made=lambda node: None, **programs):
        for name, text in programs.items():
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)
        return compile_spec("a.yaml", None, HOST, context=CompileContext(pin_source=pin, find_build=made))

    before, after = planned(one="1", two="2"), planned(two="3")
    (old,), (new,) = before.builds, after.builds
    assert old.id != new.id
    assert sorted(new.pins) == [f"system {folder}/bin/{name}" for name in ("one", "two")]
    assert [each.field for each in differences(chain(before), chain(after))] == [f"build.pin.{folder}/bin/two"]
    first = hashlib.sha256(b"1").hexdigest()
    earlier = identity.build_id("program", "1", old.source, first, old.recipe)
    two = hashlib.sha256(b"3").hexdigest()

    def made(node):
        return ExistingBuild({first, two}, is_local=True) if node == earlier else None

    assert planned(made).builds[0].id == earlier
    assert planned(made, two="4").builds[0].id not in (earlier, new.id)


# Pins that say what was built change nothing

JAR_PIN, TREE = "maven org.rocksdb:rocksdbjni:1.0.1 linux64", "git https://github.com/facebook/rocksdb.git v1.0.1"
LOCKED = {JAR_PIN: f"sha256:{CHECKSUM}", TREE: COMMIT}
GFLAGS = "c0ffee00" * 8  # an artifact that no pin is about


def planned(pins, existing=None):
    lock_file.path("a.yaml").write_text(lock_file.text(pins))
    Path("a.yaml").write_text(f"title: t\nbuilds: {{{of(JAR)}}}\n{REST}")
    return compile_spec("a.yaml", None, HOST, context=CompileContext(find_build=(existing or {}).get)).builds[0]


def made(*digests, is_local=True):
    return ExistingBuild(frozenset({GFLAGS, *digests}), is_local)


def test_pins_of_what_was_built_are_the_build_that_there_is():
    was = planned({})
    now = planned(LOCKED, {was.id: made(CHECKSUM, COMMIT)})
    assert (now.id, now.pin) == (was.id, "")
    assert now.pins == {JAR_PIN: CHECKSUM, TREE: COMMIT}  # made again, it is made of these


def test_pins_of_something_else_are_another_build():
    was, pinned = planned({}), planned(LOCKED)
    assert pinned.id != was.id
    for digests in ((), (CHECKSUM,), (CHECKSUM, OTHER), (OTHER, COMMIT)):
        assert planned(LOCKED, {was.id: made(*digests)}) == pinned
    assert planned({**LOCKED, TREE: OTHER}, {was.id: made(CHECKSUM, COMMIT)}).id not in (was.id, pinned.id)


def test_a_pin_that_joins_another_is_the_build_of_the_other():
    jar = planned({JAR_PIN: LOCKED[JAR_PIN]})
    now = planned(LOCKED, {jar.id: made(CHECKSUM, COMMIT)})
    assert (now.id, now.pin) == (jar.id, CHECKSUM)
    assert planned(LOCKED, {jar.id: made(CHECKSUM, OTHER)}) == planned(LOCKED)


def test_a_local_build_comes_first_then_one_with_all_pins():
    was, pinned = planned({}), planned(LOCKED)
    local, imported = made(CHECKSUM, COMMIT), made(CHECKSUM, COMMIT, is_local=False)
    assert planned(LOCKED, {was.id: local, pinned.id: made()}).id == pinned.id
    assert planned(LOCKED, {was.id: local, pinned.id: imported}).id == was.id
    assert planned(LOCKED, {was.id: imported, pinned.id: local}).id == pinned.id
    assert planned(LOCKED, {was.id: imported, pinned.id: imported}).id == pinned.id
    assert planned(LOCKED, {was.id: imported}).id == was.id
