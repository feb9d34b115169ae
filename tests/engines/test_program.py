"""Any program as an engine."""

from stepgrid.language.files import digest, record_inputs
from stepgrid_databases.engines.program import ENGINE, AnyProgram


def test_nothing_is_asked_of_a_program_that_nobody_knows():
    def run(program, arguments):
        raise AssertionError(f"{program} was started")

    assert ENGINE.identify(run).version == ""
    assert ENGINE.catalogue(run) is None


PROGRAM = AnyProgram()
SPEC = """\
title: "a"
builds:
  mine:
    engine: program
    source: {git: "https://a.example/x.git", ref: v1.0.0}
    flags: {command: "make -j{jobs} x", programs: "bin/x", env.CFLAGS: -O2}
steps: [{name: run, kind: command, argv: ["{program:x}"]}]
"""
SOURCE = 'source: {git: "https://a.example/x.git", ref: v1.0.0}'
FLAGS = 'flags: {command: "make -j{jobs} x", programs: "bin/x", env.CFLAGS: -O2}'


def test_its_command_is_part_of_what_it_is(compile_text):
    (one,), (other,) = compile_text(SPEC).builds, compile_text(SPEC.replace("-O2", "-O3")).builds
    assert one.id != other.id


def test_a_program_of_this_machine_is_named_by_its_source(compile_text):
    compile_text(SPEC.replace(SOURCE, "source: {system: x}").replace(f"    {FLAGS}\n", ""))


def test_flags_may_look_at_the_version(compile_text):
    versions = SPEC.replace("source:", "versions: [a.py, b.py]\n    source:").replace(
        '"bin/x"', '["{{ version }}", bin/x]'
    )
    assert [PROGRAM.program_paths(build.recipe) for build in compile_text(versions).builds] in (
        [{"a.py": "a.py", "x": "bin/x"}, {"b.py": "b.py", "x": "bin/x"}],
        [{"b.py": "b.py", "x": "bin/x"}, {"a.py": "a.py", "x": "bin/x"}],
    )


def test_a_list_is_its_words(compile_text):
    listed = SPEC.replace('programs: "bin/x"', "programs: [bin/x, bin/y]").replace("-O2", "[-O2, -g]")
    (one,), (other,) = (
        compile_text(text).builds for text in (listed, SPEC.replace("bin/x", "bin/x bin/y").replace("-O2", '"-O2 -g"'))
    )
    assert PROGRAM.program_paths(one.recipe) == {"x": "bin/x", "y": "bin/y"}
    assert one.id == other.id


LIBRARIES = """\
title: t
builds:
  lmdb: {engine: program, versions: [1.6.2, 1.7.5], requirements: ["lmdb=={{ version }}"]}
  leveldb: {engine: program, requirements: [plyvel==1.5.1]}
steps: [{name: get, kind: command, argv: ["{program:python}", kv.py]}]
"""


def test_a_raised_library_is_another_build_of_its_own(compile_text):
    raised = LIBRARIES.replace("1.7.5", "2.0.0")
    ids, after = ({build.name: build.id for build in compile_text(text).builds} for text in (LIBRARIES, raised))
    assert {name for name in ids if ids[name] == after.get(name)} == {"lmdb-1.6.2", "leveldb"}
    assert set(after) - set(ids) == {"lmdb-2.0.0"}


def test_a_script_of_the_spec_names_its_libraries(compile_text, tmp_path):
    text = "title: t\nbuilds: {kv: {engine: program, source: {path: bench}, flags: {programs: kv.py}}}\n"
    text += "steps: [{name: get, kind: command, argv: ['{program:kv.py}']}]\n"
    (tmp_path / "bench").mkdir()
    script = tmp_path / "bench/kv.py"
    script.write_text("#!/usr/bin/env python3\n# /// script\n# dependencies = ['plyvel == 1.5.1']\n# ///\n")
    script.chmod(0o755)
    with record_inputs() as inputs:
        assert compile_text(text).builds[0].source["libraries"] == {"requirements": ["plyvel==1.5.1"]}
    assert inputs.files["bench/kv.py"] == digest(script.read_bytes())  # an edit makes a kept plan an old one
    script.write_text("#!/usr/bin/env python3\n")
    assert "libraries" not in compile_text(text).builds[0].source
