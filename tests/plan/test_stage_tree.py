"""Ids of stages: files that commands read count by their content, what is read of output does not; ids are checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from stepgrid.expand.setup import Setup
from stepgrid.language import files as files_module
from stepgrid.language.files import shared_libraries
from stepgrid.language.problems import SpecError
from stepgrid.model.plan import INPUTS, Option, Plan, PlannedStage
from stepgrid.plan import plan_file
from stepgrid.plan.assembly import Context, compile_spec, scales
from stepgrid.plan.difference import differences
from stepgrid.plan.stage_tree import StageChoice, id_faults, newest_id
from stepgrid.plugins.driver import find_on_path
from tests.cli import samples
from tests.conftest import HOST, Compile
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


def stages(plan: Plan) -> list[str]:
    return [link.stage.id for link in chain(plan)]


def recompiled(choose: StageChoice = newest_id) -> Plan:
    return compile_spec("a.yaml", None, HOST, context=Context(choose_id=choose))


@pytest.fixture
def ids(compile_text: Compile, tmp_path: Path) -> Callable[..., list[str]]:
    """Of the stages, in the order of the chain, with these files beside the spec."""

    def compiled(argv: str, more: str = "", **files: str) -> list[str]:
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        return stages(compile_text(SPEC % (argv, more)))

    return compiled


@pytest.mark.parametrize("argv", ["sh, ./my.sh", "./my.sh", "sh, my.sh", "sh, {folder}/my.sh"])
def test_what_is_in_a_file_that_a_word_names_counts(ids: Callable[..., list[str]], tmp_path: Path, argv: str) -> None:
    argv = argv.replace("{folder}", str(tmp_path))
    first, old = ids(argv, my_sh="one"), chain(recompiled())
    second, new = ids(argv, my_sh="two"), chain(recompiled())
    assert first[0] != second[0]
    assert first[1] != second[1]  # what comes after it, too
    ((field, before, after),) = named(differences(old, new))
    assert field.endswith("my.sh")
    assert (before, after) == tuple(sha256(text.encode()).hexdigest()[:12] for text in ("one", "two"))
    (tmp_path / "my.sh").write_text("one")
    os.utime(tmp_path / "my.sh", (1, 1))
    assert stages(recompiled()) == first


def test_what_names_no_file_leaves_the_id_alone(ids: Callable[..., list[str]], tmp_path: Path) -> None:
    """A plain word that is a folder's name, the spec's folder, one elsewhere, and words with placeholders."""
    words = f'{SH}, data, ., ./, .., /usr, "{{data}}/my.sh", "--config={{folder}}/my.sh", 3.14'
    before = ids(words)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("1")
    assert ids(words, sh="1", my_sh="1") == before


def test_listed_files_and_folders_count(ids: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a").write_text("1")
    listed = ", files: [my.cnf, lib]"
    found = [ids("sh, -c, 'true'", listed, my_cnf="one"), ids("sh, -c, 'true'", listed, my_cnf="two")]
    (tmp_path / "lib" / "a").write_text("2")
    found.append(ids("sh, -c, 'true'", listed))
    assert len({one for one, _ in found}) == 3


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
def test_what_is_listed_must_be_there_and_nothing_is_listed_outside(
    compile_text: Compile, tmp_path: Path, name: str, code: str, message: str, hint: str
) -> None:
    """`files: [/]` would be all of a disk: check of five lines took more than 40 s."""
    (tmp_path / "my.cnf").write_text("1")
    (tmp_path / "link").symlink_to("/usr")
    with pytest.raises(SpecError) as caught:
        compile_text(SPEC % ("sh", f", files: [{name}]"))
    (problem,) = (each for each in caught.value.problems if each.severity == "error")
    assert (str(problem.where), problem.code) == ("a.yaml:4:66", code)
    assert (problem.message, problem.hint) == (message, hint)


def test_a_word_that_is_meant_for_a_file_which_is_not_there(compile_text: Compile, tmp_path: Path) -> None:
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
def test_a_word_that_may_be_what_the_program_writes(compile_text: Compile, tmp_path: Path, word: str) -> None:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "hammerdb.tcl").touch()
    compile_text(SPEC % (f"sh, -c, 'true', sh, {word}", ""))


@pytest.mark.parametrize("name", ["/proc/kmsg", "/proc/self/environ", "link"])
def test_a_word_that_names_what_the_kernel_makes_up_is_a_word(
    ids: Callable[..., list[str]], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/proc/kmsg waits for the kernel's next message, and the environment is another each time."""
    (tmp_path / "link").symlink_to("/proc/self/environ")
    monkeypatch.setattr(files_module, "_read", lambda path: pytest.fail(f"{path} was read"))
    assert len(ids(f"{SH}, {'./' if name == 'link' else ''}{name}, --from={name}")) == 2


def test_a_file_is_meant_from_the_one_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/my.sh").write_text("one")
    Path("specs/a.yaml").write_text(SPEC % ("sh, my.sh", ""))
    step = chain(compile_spec("specs/a.yaml", None, HOST))[0].stage.steps[0]
    assert step.setup[INPUTS] == {"my.sh": "specs/my.sh"}


class Kept:
    """A store with results under some ids without contents."""

    def __init__(self, *stages: str) -> None:
        self.stages, self.asked = stages, list[Mapping[str, str]]()

    def __call__(self, today: str, earlier: Sequence[str], contents: Mapping[str, str]) -> str:
        self.asked.append(contents)
        return next((stage for stage in earlier if stage in self.stages), today)


def test_an_earlier_id_stays_where_the_store_has_it(ids: Callable[..., list[str]], tmp_path: Path) -> None:
    earlier = ids(f"{SH}, my.sh")  # as if the file were none: ids were made so
    now = ids(f"{SH}, my.sh", my_sh="one")
    assert not set(earlier) & set(now)

    assert stages(recompiled(Kept())) == now
    assert stages(recompiled(Kept(*earlier))) == earlier
    assert stages(recompiled(Kept(earlier[0]))) == earlier  # the second reads nothing of its own


def test_the_store_is_asked_with_the_checksums_if_there_are_some(ids: Callable[..., list[str]]) -> None:
    asked = []
    for argv in (f"{SH}, my.sh", f"{SH}, -c, 'true'"):
        ids(argv, my_sh="")
        kept = Kept()
        inputs = [INPUTS in step.setup for stage in recompiled(kept).stages for step in stage.steps]
        asked.append((any(inputs), kept.asked))
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert asked == [(True, [{"0/my.sh": empty}]), (False, [])]


HIDDEN = """\
title: t
builds: {mine: {engine: program, version: "1.0", source: {system: my-tool}%s}}
%s
steps:
  - {name: put, kind: command, argv: [%s]%s}
"""
SERVED = """, service: {argv: ["{program:my-tool}", "{folder}/serve", --config={folder}/conf], env: {MORE: more.ini},
  ready: {command: ["{program:my-tool}", ready.sh]}}"""
PROBES = "probes: [{name: size, before: [put], command: [./probe.sh, '{data}']}]"
COLLECTORS = "collectors: [{name: look, command: ['{program:my-tool}', look.sh]}]"


@pytest.mark.parametrize(
    ("build", "more", "argv", "step", "file", "name"),
    [
        ("", "", f"{SH}, --config=c1.ini", "", "c1.ini", "c1.ini"),
        ("", "", f"{SH}, --config={{folder}}/c1.ini", "", "c1.ini", "{folder}/c1.ini"),
        ("", "", f"{SH}, conf", "", "conf", "conf"),
        ("", "", "mytool, x", "", "bin/mytool", "mytool"),
        ("", "", f"{SH}, ./dir", "", "dir/a", "./dir"),
        ("", "", f"{SH}, --from=sub/dir", "", "sub/dir/a", "sub/dir"),
        ("", "", SH, ", files: [tree]", "elsewhere", "tree/link"),
        ("", "", f"{SH}, ./tree", "", "elsewhere", "./tree/link"),
        ("", "launch: {env: {CONF: env.ini}}", SH, "", "env.ini", "env.ini"),
        (SERVED, "", SH, "", "serve", "{folder}/serve"),
        (SERVED, "", SH, "", "conf", "{folder}/conf"),
        (SERVED, "", SH, "", "more.ini", "more.ini"),
        (SERVED, "", SH, "", "ready.sh", "ready.sh"),
        ("", PROBES, SH, "", "probe.sh", "./probe.sh"),
        ("", COLLECTORS, SH, "", "look.sh", "look.sh"),
    ],
)
def test_what_is_named_anywhere_counts_by_its_content(
    compile_text: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    build: str, more: str, argv: str, step: str, file: str, name: str,
) -> None:  # fmt: skip
    """23 of 28 such changes were "nothing to do"."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    text = (HIDDEN % (build, more, argv, step)).replace("{folder}", str(tmp_path))

    def compiled(content: str) -> Plan:
        (tmp_path / file).write_text(content)
        (tmp_path / file).chmod(0o755)
        return compile_text(text)

    old, new = compiled("one"), compiled("two")
    assert chain(old)[0].stage.id != chain(new)[0].stage.id
    ((field, *_),) = named(differences(chain(old), chain(new)))
    assert field == f"files.{name.format(folder=tmp_path)}"
    assert list(id_faults(old)) == []
    assert chain(compiled("one"))[0].stage.id == chain(old)[0].stage.id


def test_results_of_before_stay_until_what_is_named_changes(ids: Callable[..., list[str]], tmp_path: Path) -> None:
    earlier = ids(f"{SH}, my.sh, --config=c1.ini", my_sh="one")
    now = ids(f"{SH}, my.sh, --config=c1.ini", c1_ini="1")
    assert earlier[0] != now[0]
    kept = Kept(*earlier)
    plan = recompiled(kept)
    assert stages(plan) == earlier
    assert [sorted(contents) for contents in kept.asked][-1] == ["0/c1.ini", "0/my.sh"]
    assert list(id_faults(plan)) == []


@pytest.fixture
def upgraded_libc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
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


def test_a_shared_library_of_a_system_s_program_counts(compile_text: Compile, upgraded_libc: Path) -> None:
    text = SPEC.replace("my-tool", "sh") % ("'{program:sh}'", "")
    text += f"launch: {{env: {{LD_LIBRARY_PATH: {upgraded_libc.parent}}}}}\n"
    first = stages(compile_text(text))
    old = chain(recompiled())
    with upgraded_libc.open("ab") as file:
        file.write(b"upgraded")
    new = recompiled()
    assert {*stages(new)}.isdisjoint(first)
    assert [field for field, *_ in named(differences(old, chain(new)))] == ["files.libc.so.6"]
    kept = Kept(*first)
    assert stages(recompiled(kept)) != first
    assert "0/libc.so.6" in kept.asked[0]


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no Python of the system here")
def test_python_s_own_modules_need_libraries_too(tmp_path: Path) -> None:
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
PLAIN = "{pattern: '(\\d+) in'}"


@pytest.mark.parametrize(
    "metric",
    [
        "{pattern: 'took (\\d+)'}",
        "{pattern: '(\\d+) in', unit: s}",
        "{pattern: '(\\d+) in', better: lower}",
        "{pattern: '(\\d+) in', times: 0.001}",
        "{pattern: '(\\d+) in', required: true}",
        "{pattern: '(\\d+) in'}, more: {pattern: '(\\d+)'}",
        f"{PLAIN}}}, series: {{file: a.csv, time: t, rate: r",
    ],
)
def test_metrics_are_no_part_of_the_identity(compile_text: Compile, metric: str) -> None:
    plain = stages(compile_text(METRICS % ("s", PLAIN, "")))
    assert stages(compile_text(METRICS % ("s", metric, ""))) == plain
    assert stages(compile_text(METRICS % ("ms", metric, ""))) != plain  # of another command


AXIS = "params: {scale: 1}\nsweep: {scale: {param: scale, values: [1, 2], from: loaded}}\n"


def test_output_that_two_cells_read_in_two_ways_is_measured_twice(compile_text: Compile) -> None:
    plan = compile_text(METRICS % ("s", "{pattern: '(\\d+) in', times: '{{ params.scale }}'}", AXIS))
    assert len([stage for stage in plan.stages if stage.parent]) == 2
    assert list(id_faults(plan)) == []


def test_results_under_an_id_of_before_stay(compile_text: Compile) -> None:
    today = compile_text(METRICS % ("s", PLAIN, ""))
    asked: list[str] = []

    def choose(newest: str, earlier: Sequence[str], contents: Mapping[str, str]) -> str:
        asked.extend(earlier[:1])
        return earlier[0] if earlier else newest

    plan = recompiled(choose)
    assert {stage.id for stage in plan.stages if stage.todays} == {*asked}
    assert all(stage.todays for stage in plan.stages if stage.parent)
    assert list(id_faults(plan)) == []
    assert "".join("".join(lines) for _, lines in plan_file.texts(today)).count("todays") == 0


# Setups


CLIENTS = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define: {builds: {one: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}}}
steps:
  - {name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: one}
sweep: {size: {option: max_connections, values: [1, 2]}}
"""


def test_a_client_is_the_id_of_its_build_in_one_object_for_all_stages(compile_text: Compile) -> None:
    plan = compile_text(CLIENTS)
    (client,) = [build.id for build in plan.builds if build.engine == "sysbench"]
    points = [stage.steps[0] for stage in plan.stages]
    assert [step.client for step in points] == [client] * 2
    assert points[0].setup is points[1].setup


def test_files_are_checksums_in_it() -> None:
    brought = Setup({}, "").attaching(None, {"a.lua": "text"})
    checksum = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    assert brought.values == {"files": {"a.lua": checksum}}
    assert brought.text == f'{{"files":{{"a.lua":"{checksum}"}}}}'


# Ids checked again


SPECS = Path(__file__).resolve().parents[2] / "specs"
COMPILED = [path for path in (*SPECS.glob("*.yaml"), *SPECS.glob("posts/*.yaml")) if ".lock" not in path.suffixes]
OPTIONS = "start: cold\nseed: 7\noptions: [{a: 1, b: {value: x, when_unsupported: drop}}]\n"
OWN = "share: false\nrepeat: {loads: 2, runs: 2}\nlaunch: {cpus: '0-1'}\n"


@pytest.mark.parametrize("path", sorted(COMPILED), ids=lambda path: path.stem)
def test_the_ids_of_every_shipped_spec(path: Path) -> None:
    plan = compile_spec(str(path), "smoke" if "smoke" in scales(str(path)) else None, HOST)
    assert list(id_faults(plan)) == []


@pytest.mark.parametrize("more", ["", OWN, OPTIONS])
def test_cells_of_their_own_and_repeats(more: str, compile_text: Compile) -> None:
    assert list(id_faults(compile_text(samples.SPEC + more))) == []


def _steps(stage: PlannedStage, **other: object) -> PlannedStage:
    return replace(stage, steps=(replace(stage.steps[0], **other), *stage.steps[1:]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        lambda stage: _steps(stage, seed=stage.steps[0].seed + 1),
        lambda stage: _steps(stage, settings={**stage.steps[0].settings, "keys": 1}),
        lambda stage: _steps(stage, options={"block_size": Option(1)}),
        lambda stage: _steps(stage, revision=99),
        lambda stage: _steps(stage, setup={"launch": {"cpus": "1"}}),
        lambda stage: replace(stage, load=1),
        lambda stage: replace(stage, hardware="h-0"),
        lambda stage: replace(stage, build="b-0"),
    ],
)
def test_a_stage_that_is_another_one(change: Callable[[PlannedStage], PlannedStage], compile_text: Compile) -> None:
    plan = compile_text(samples.SPEC)
    root = next(stage for stage in plan.stages if stage.parent is None)
    forged = replace(plan, stages=tuple(change(each) if each is root else each for each in plan.stages))
    (said,) = id_faults(forged)
    assert said.startswith(f"the stage {root.id} declares what has the id s-")
    assert not said.endswith(root.id)


def test_a_build_that_is_another_one(compile_text: Compile) -> None:
    plan = compile_text(samples.SPEC)
    forged = replace(plan, builds=(replace(plan.builds[0], source={"system": "db_bench"}), *plan.builds[1:]))
    (said,) = id_faults(forged)
    assert said.startswith(f"the build {plan.builds[0].id} declares what has the id b-")


def test_a_file_that_is_another_one(compile_text: Compile) -> None:
    plan = compile_text(samples.SPEC)
    root = plan.stages[0]
    forged = replace(plan, stages=(_steps(root, files={"a.lua": "x"}), *plan.stages[1:]))
    assert list(id_faults(forged)) == [f"the stage {root.id} brings a file `a.lua` that its checksum is not of"]
