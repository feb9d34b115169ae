"""Ids of stages: files that commands read count by their content, what is read of output does not; ids are checked."""

from pathlib import Path

import pytest

from stepgrid.language import files as files_module
from stepgrid.language.files import shared_libraries
from stepgrid.language.problems import SpecError
from stepgrid.model.plan import Option
from stepgrid.model.records import LaunchRequest, StepSetup, replace
from stepgrid.plan.assembly import compile_spec, scales
from stepgrid.plan.difference import differences
from stepgrid.plan.stage_tree import id_faults
from stepgrid.plugins.driver import find_on_path
from tests.cli import samples
from tests.conftest import HOST
from tests.plan.test_difference import chain, named

SPEC = """\
title: t
builds: {mine: {engine: program, version: "1.0", source: {system: my-tool}}}
steps:
  - {name: put, kind: command, argv: [%s], mutates: true%s}
  - checkpoint: loaded
  - {name: get, kind: command, argv: ["{program:my-tool}", "{data}/x"]}
"""
SH = '"{program:my-tool}"'  # of the build, and not here: one of PATH would count by its content


def stages(plan):
    return [link.stage.id for link in chain(plan)]


@pytest.fixture
def ids(compile_text, tmp_path):
    """Of the stages, in the order of the chain, with these files beside the spec."""

    def compiled(argv, more="", **files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        return stages(compile_text(SPEC % (argv, more)))

    return compiled


def test_what_names_no_file_leaves_the_id_alone(ids, tmp_path):
    """A plain word that is a folder's name, the spec's folder, one elsewhere, and words with placeholders."""
    words = f'{SH}, data, ., ./, .., /usr, "{{data}}/my.sh", "--config={{folder}}/my.sh", 3.14'
    before = ids(words)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("1")
    assert ids(words, sh="1", my_sh="1") == before


ELSEWHERE = "copy it there, or list a folder that holds it under `roots` in the site file"


@pytest.mark.parametrize(
    ("name", "code", "message", "hint"),
    [
        ("my.cn", "file-not-found", "there is no file `my.cn`", "did you mean `my.cnf`?"),
        *(
            (name, "file-outside", f"the file `{name}` is outside the spec's folder", ELSEWHERE)
            for name in ("/usr", "../secret", "link", "/proc/self/environ")
        ),
    ],
)
def test_what_is_listed_must_be_there_and_nothing_is_listed_outside(compile_text, tmp_path, name, code, message, hint):
    """`files: [/]` would be all of a disk: check of five lines took more than 40 s."""
    (tmp_path / "my.cnf").write_text("1")
    (tmp_path / "link").symlink_to("/usr")
    with pytest.raises(SpecError) as caught:
        compile_text(SPEC % ("sh", f", files: [{name}]"))
    (problem,) = (each for each in caught.value.problems if each.severity == "error")
    assert (str(problem.where), problem.code) == ("a.yaml:4:66", code)
    assert (problem.message, problem.hint) == (message, hint)


def test_a_word_that_is_meant_for_a_file_which_is_not_there(compile_text, tmp_path):
    """With hammerdb-build.tcl for hammerdb.tcl the load did nothing, and its empty database was the checkpoint."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "hammerdb.tcl").touch()
    with pytest.raises(SpecError) as caught:
        compile_text(SPEC % ("sh, -c, 'exec cli $1', sh, programs/hammerdb-build.tcl", ""))
    (problem,) = (each for each in caught.value.problems if each.severity == "error")
    assert (str(problem.where), problem.code) == ("a.yaml:4:66", "file-not-found")
    assert problem.message == "there is no file `programs/hammerdb-build.tcl`"
    assert problem.hint == "did you mean `hammerdb.tcl`?"


@pytest.mark.parametrize("word", ["programs/report.json", "out/a.json", "./hammerdb-build.tcl", "'a/b c'", "1/2"])
def test_a_word_that_may_be_what_the_program_writes(compile_text, tmp_path, word):
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "hammerdb.tcl").touch()
    compile_text(SPEC % (f"sh, -c, 'true', sh, {word}", ""))


@pytest.mark.parametrize("name", ["/proc/kmsg", "/proc/self/environ", "link"])
def test_a_word_that_names_what_the_kernel_makes_up_is_a_word(ids, tmp_path, name, monkeypatch):
    """/proc/kmsg waits for the kernel's next message, and the environment is another each time."""
    (tmp_path / "link").symlink_to("/proc/self/environ")
    monkeypatch.setattr(files_module, "_read", lambda path: pytest.fail(f"{path} was read"))
    assert len(ids(f"{SH}, {'./' if name == 'link' else ''}{name}, --from={name}")) == 2


@pytest.fixture
def upgraded_libc(tmp_path, monkeypatch):
    """A copy of libc that the loader of a step takes, so that it can be another one."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    shared_libraries.cache_clear()
    program = find_on_path("sh")
    assert program
    (tmp_path / "lib").mkdir()
    copy = tmp_path / "lib" / "libc.so.6"
    copy.write_bytes(Path(shared_libraries(program)["libc.so.6"]).read_bytes())
    shared_libraries.cache_clear()
    yield copy
    shared_libraries.cache_clear()


def test_a_shared_library_of_a_system_s_program_counts(compile_text, upgraded_libc):
    text = SPEC.replace("my-tool", "sh") % ("'{program:sh}'", "")
    text += f"launch: {{env: {{LD_LIBRARY_PATH: {upgraded_libc.parent}}}}}\n"
    first = stages(compile_text(text))
    old = chain(compile_spec("a.yaml", None, HOST))
    with upgraded_libc.open("ab") as file:
        file.write(b"upgraded")
    new = compile_spec("a.yaml", None, HOST)
    assert {*stages(new)}.isdisjoint(first)
    assert [field for field, *_ in named(differences(old, chain(new)))] == ["files.libc.so.6"]


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no Python of the system here")
def test_python_s_own_modules_need_libraries_too(tmp_path):
    """quickstart-sqlite kept its figures over an upgrade of libsqlite3."""
    assert "libsqlite3.so.0" in shared_libraries("/usr/bin/python3")
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "cut").write_bytes(b"\x7fELF\x02\x01")
    assert [shared_libraries(str(tmp_path / name)) for name in ("script", "cut", "absent")] == [{}, {}, {}]


# What is read of output


METRICS = """\
title: t
builds: {mine: {engine: program, version: "1.0", source: {system: sh}}}
steps:
  - {name: put, kind: command, argv: ["{program:sh}", -c, "echo put"]}
  - {checkpoint: loaded}
  - {name: get, kind: command, argv: ["{program:sh}", -c, "echo 7 in %s"], metrics: {rate: %s}}
%s"""
AXIS = "params: {scale: 1}\nsweep: {scale: {param: scale, values: [1, 2], from: loaded}}\n"


def test_output_that_two_cells_read_in_two_ways_is_measured_twice(compile_text):
    plan = compile_text(METRICS % ("s", "{pattern: '(\\d+) in', times: '{{ params.scale }}'}", AXIS))
    assert len([stage for stage in plan.stages if stage.parent]) == 2
    assert list(id_faults(plan)) == []


def test_the_order_of_listed_files_is_no_identity(compile_text, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    text = METRICS % ("s", "{pattern: '(\\d+) in'}", "")
    first, second = (text.replace('put"]}', f'put"], files: [{names}]}}') for names in ("one, two", "two, one"))
    assert first != second
    assert {*stages(compile_text(first))} == {*stages(compile_text(second))}


# Ids checked again


SPECS = Path(__file__).resolve().parents[2] / "specs"
COMPILED = [path for path in (*SPECS.glob("*.yaml"), *SPECS.glob("posts/*.yaml")) if ".lock" not in path.suffixes]


@pytest.mark.parametrize("path", sorted(COMPILED), ids=lambda path: path.stem)
def test_the_ids_of_every_shipped_spec(path):
    plan = compile_spec(str(path), "smoke" if "smoke" in scales(str(path)) else None, HOST)
    assert list(id_faults(plan)) == []


def _steps(stage, **other):
    return replace(stage, steps=(replace(stage.steps[0], **other), *stage.steps[1:]))


@pytest.mark.parametrize(
    "change",
    [
        lambda stage: _steps(stage, seed=stage.steps[0].seed + 1),
        lambda stage: _steps(stage, settings={**stage.steps[0].settings, "keys": 1}),
        lambda stage: _steps(stage, options={"block_size": Option(1)}),
        lambda stage: _steps(stage, revision=99),
        lambda stage: _steps(stage, setup=StepSetup(launch=LaunchRequest(cpus="1"))),
        lambda stage: replace(stage, load=1),
        lambda stage: replace(stage, hardware="h-0"),
        lambda stage: replace(stage, build="b-0"),
    ],
)
def test_a_stage_that_is_another_one(change, compile_text):
    plan = compile_text(samples.SPEC)
    root = next(stage for stage in plan.stages if stage.parent is None)
    forged = replace(plan, stages=tuple(change(each) if each is root else each for each in plan.stages))
    (said,) = id_faults(forged)
    assert said.startswith(f"the stage {root.id} declares what has the id s-")
    assert not said.endswith(root.id)


def test_a_build_a_file_and_a_host_that_are_another_one(compile_text):
    plan = compile_text(samples.SPEC)
    forged = replace(plan, builds=(replace(plan.builds[0], source={"system": "db_bench"}), *plan.builds[1:]))
    (said,) = id_faults(forged)
    assert said.startswith(f"the build {plan.builds[0].id} declares what has the id b-")
    root = plan.stages[0]
    forged = replace(plan, stages=(_steps(root, files={"a.lua": "x"}), *plan.stages[1:]))
    assert list(id_faults(forged)) == [f"the stage {root.id} brings a file `a.lua` that its checksum is not of"]
    cell = plan.cells[0]
    forged = replace(cell, repeats=(replace(cell.repeats[0], origin="host-1"), *cell.repeats[1:]))
    faults = list(id_faults(replace(plan, cells=(forged, *plan.cells[1:]))))
    assert faults == ["load 1 of a cell is of another host than its stages"]
    child = next(stage for stage in plan.stages if stage.parent)
    moved = tuple(replace(stage, origin="host-1") if stage is child else stage for stage in plan.stages)
    faults = list(id_faults(replace(plan, stages=moved)))
    assert f"the stage {child.id} is of another host than the one that it starts from" in faults
