"""A finding of an own program as a script: its text, its answer in a bare environment, and what shrinking leaves."""

import os
import re
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepgrid.cli import main
from stepgrid.host.locks import HOST_LOCK_OVERRIDE
from stepgrid.model.plan import Option
from stepgrid.model.records import replace
from stepgrid_investigate.repro import script
from tests.build.repository import Repository
from tests.cases import rows
from tests.integration.conftest import Lab
from tests.needs import needs
from tests.waiting import until

pytestmark = pytest.mark.integration
SPEC = """\
title: a slow index
builds:
  count: {engine: program, version: 1, source: {path: .}, flags: {programs: count.sh}}
options: {cache: 10, log: debug, sync: false, pages: 8, flush: 3}
steps:
  - {name: load, kind: command, argv: ["{program:count.sh}", load, "{data}/it's here", "{options}"], mutates: true,
     measured: false}
  - {name: warm, kind: command, argv: ["{program:count.sh}", warm, "{options}"], measured: false}
  - name: read
    kind: command
    argv: ["{program:count.sh}", read, "{options}"]
    metrics:
      qps: {pattern: 'done: (\\d+) ops/s', better: higher, unit: operations/s}
      part: {pattern: '(\\d+) ops/s'}
sweep:
  index: {points: {fast: {options: {index: fast}}, slow: {options: {index: slow}}, same: {options: {index: other}}}}
repeat: 3
report: {base: {index: fast}}
allow: {no-effect: a test}
"""
# it counts nothing: a machine that is busy changes no figure
PROGRAM = """\
#!/bin/sh
rate=1000
case " $* " in *" --index=slow "*) case " $* " in *" --log=debug "*) rate=900 ;; esac ;; esac
echo "begun: 1 ops/s"
echo "done: $rate ops/s"
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.write(SPEC)
    program = lab.folder / "count.sh"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    run = lab.run(**{HOST_LOCK_OVERRIDE: str(lab.folder / "lock")})
    assert run.returncode == 0, run.stdout + run.stderr
    return lab


def repro(lab, *words):
    return lab.execute(lab.argv("repro", "spec.yaml", *words), **{HOST_LOCK_OVERRIDE: str(lab.folder / "lock")})


def test_text_of_the_script(lab, golden):
    run = repro(lab, "index=slow", "-o", "text")
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"text/repro.sh: 3 commands, \d+s, QPS 0.90 \[0.89, 0.91\] slower\n", run.stdout)
    for name in ("repro.sh", "README.md"):
        text = (lab.folder / "text" / name).read_text()
        text = re.sub(r"in about \d+s", "in about 1s", re.sub(r"/[^\s']+/b-\w+/", "/…/", text))
        golden(re.sub(r"^- (Host|System|Measured): .+$", r"- \1: …", text, flags=re.MULTILINE))


@pytest.mark.parametrize(
    "shell", ["dash", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("bash", "busybox"))]
)
def test_it_needs_a_shell_alone(lab, shell):
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"this machine has no {shell}")
    repro(lab, "index=slow", "-o", f"moved {shell}")
    folder = lab.folder / "elsewhere" / f"to {shell}"
    shutil.copytree(lab.folder / f"moved {shell}", folder)
    program = lab.folder / "elsewhere" / "counter"
    shutil.copy(lab.folder / "count.sh", program)
    argv = [path, *(["sh"] if shell == "busybox" else []), str(folder / "repro.sh")]
    environment = {"PATH": "/nowhere", "STEPGRID_A": str(program), "STEPGRID_ROUNDS": "2"}
    run = subprocess.run(argv, env=environment, cwd="/", capture_output=True, text=True, timeout=60, check=False)
    assert run.stderr == ""
    assert run.stdout == (
        "round 1: QPS A 1000.000 B 900.000, B/A 0.900\n"
        "round 2: QPS A 1000.000 B 900.000, B/A 0.900\n"
        "B/A 0.900, rounds from 0.900 to 0.900; expected 0.90 [0.89, 0.91]\n"
        "reproduced: the ratio is beyond the half of the expected difference\n"
    )
    assert run.returncode == 0
    program.write_text("#!/bin/sh\necho done: 900 ops/s\n")
    run = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout.splitlines()[-1]) == (
        1,
        "not reproduced: the ratio is within the half of the expected difference",
    )


def test_shrunk_to_the_cause(lab):
    """Of six options the slowness needs two, and of three steps one."""
    run = repro(lab, "index=slow", "-o", "small", "--shrink")
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"small/repro.sh: 1 command, \ds, QPS 0.900 \[0.89\d, 0.90\d\] slower\n", run.stdout)
    assert run.stderr.splitlines() == [
        "repro: without load, warm: 0.90 [0.89, 0.91] after 3 rounds: taken away",
        "repro: without cache, flush, log, pages, sync: 1.00 [0.99, 1.01] after 3 rounds: needed",
        "repro: without cache, flush: 0.90 [0.89, 0.91] after 3 rounds: taken away",
        "repro: without log, pages: 1.00 [0.99, 1.01] after 3 rounds: needed",
        "repro: without sync: 0.90 [0.89, 0.91] after 3 rounds: taken away",
        "repro: without log: 1.00 [0.99, 1.01] after 3 rounds: needed",
        "repro: without pages: 0.90 [0.89, 0.91] after 3 rounds: taken away",
        "repro: once more: 0.900 [0.898, 0.902] after 6 rounds",
    ]
    script = (lab.folder / "small" / "repro.sh").read_text()
    assert 'run 1-read "${B}" read --index=slow --log=debug\n' in script
    readme = (lab.folder / "small" / "README.md").read_text()
    assert "- steps: load, warm\n- options, which have their defaults: cache, flush, pages, sync\n" in readme
    assert not list(lab.folder.glob(".repro-*"))


# What is the user's stays


def run_script(folder, **environment):
    env = {"PATH": os.environ["PATH"], "STEPGRID_ROUNDS": "1", **environment}
    return subprocess.run(
        ["sh", "repro.sh"], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )


def test_variables_of_others_name_no_folder_that_is_removed(lab, tmp_path):
    assert repro(lab, "index=slow", "-o", "variables").returncode == 0
    folder, thesis = lab.folder / "variables", tmp_path / "data" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("mine")
    names = ("WORK", "SOCKETS", "DATA", "MADE", "BASE", "HERE", "LOG", "TMPDIR", "CDPATH", "A", "B", "ROUNDS", "PID")
    before = sorted(folder.rglob("*"))
    run = run_script(folder, **dict.fromkeys(names, str(tmp_path)))
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("round 1: QPS A 1000.000 B 900.000, B/A 0.900\nB/A 0.900, ")
    run = run_script(folder, STEPGRID_WORK=str(tmp_path))
    assert (run.returncode, run.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert thesis.read_text() == "mine"
    outputs = {path.name for path in {*folder.rglob("*")} - {*before}}
    assert outputs == {"log", "1A.out", "1B.out"}
    run = run_script(folder, STEPGRID_WORK=str(tmp_path / "no"))
    assert (run.returncode, run.stderr.splitlines()[-1]) == (2, f"repro: there is no folder {tmp_path}/no")
    run = run_script(folder, STEPGRID_ROUNDS="x; touch PWN")
    assert (run.returncode, run.stderr) == (2, "repro: STEPGRID_ROUNDS is no number of rounds: x; touch PWN\n")


def test_one_that_is_told_to_end_removes_what_it_made_and_nothing_else(lab, tmp_path):
    assert repro(lab, "index=slow", "-o", "ended").returncode == 0
    (tmp_path / "data").mkdir()
    (tmp_path / "repro.mine").mkdir()
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 0.2\necho done: 9 ops/s\n")
    slow.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "STEPGRID_WORK": str(tmp_path), "STEPGRID_A": str(slow)}
    process = subprocess.Popen(["sh", lab.folder / "ended" / "repro.sh"], env=environment, stdout=subprocess.DEVNULL)
    until(lambda: len(list(tmp_path.glob("repro.*"))) == 2)
    process.terminate()
    assert process.wait(120) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "repro.mine", "slow"]


def test_shrinking_passes_no_variables_on(lab, tmp_path):
    """Not even ours: the script that is tried is the one that is written."""
    thesis = tmp_path / "data" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("mine")
    names = ("WORK", "STEPGRID_WORK", "STEPGRID_A", "STEPGRID_B", "STEPGRID_ROUNDS", "ROUNDS")
    environment = {**dict.fromkeys(names, str(tmp_path)), HOST_LOCK_OVERRIDE: str(lab.folder / "lock")}
    run = lab.execute(lab.argv("repro", "spec.yaml", "index=slow", "-o", "quiet", "--shrink"), **environment)
    assert run.returncode == 0, run.stderr
    assert thesis.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_script_that_somebody_edited_stays(lab):
    """What else is no folder of ours: tests/host/test_products.py."""
    for _ in range(2):  # our own is replaced
        assert repro(lab, "index=slow", "-o", "kept").returncode == 0
    file = lab.folder / "kept" / "repro.sh"
    edited = file.read_text() + "# mine\n"
    file.write_text(edited)
    for words in ([], ["--shrink"]):
        run = repro(lab, "index=slow", "-o", "kept", *words)
        said = "kept/repro.sh was changed since stepgrid wrote it\n"
        hint = "   = name a new or an empty folder, or move this one away\n"
        assert (run.returncode, run.stderr) == (2, said + hint)
    assert file.read_text() == edited


# Nothing of a spec is shell

CHARACTERS = "\n\r\t'\"`\\;|&#}{)(*!$ é\u2028"
PIECES = ("touch PWN", "$(touch PWN)", "\ntouch PWN\n", "\nEND\n", "\nEND_\n", "${x}", "-", *CHARACTERS)
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


@pytest.fixture(scope="module")
def finding_of_the_lab(lab):
    written = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(lab.folder)
        patch.setattr(script, "write", lambda value, path: written.append(value))
        assert main(["repro", "spec.yaml", "index=slow", "-o", "property"]) == 0
    return written[0]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(title=HOSTILE, value=HOSTILE, name=HOSTILE, text=HOSTILE)
def test_no_text_of_a_spec_becomes_shell(finding_of_the_lab, tmp_path_factory, title, value, name, text):
    folder = tmp_path_factory.mktemp("property")
    program = folder / f"x{name.replace('/', '')}"
    program.write_text(f"#!/bin/sh\nprintf '%s\\000' \"$@\" >'{folder}/words'\necho done: 1000 ops/s\n")
    program.chmod(0o755)
    arms = []
    for arm in finding_of_the_lab.arms:
        builds = {
            key: build._replace(
                programs=dict.fromkeys(build.programs, (str(program),)),
                record=replace(build.record, source={"path": text}, version=title),
            )
            for key, build in arm.builds.items()
        }
        change = {"name": title, "options": {"o": Option(value)}, "files": {"f": text, "g": f"/STEPGRID/DATA/{text}"}}
        stage = arm.stages[-1]
        stages = (replace(stage, steps=(replace(stage.steps[-1], **change),)),)
        arms.append(replace(arm, name=title, builds=builds, stages=stages, waits=(text,)))
    finding = replace(finding_of_the_lab.finding, title=title, spec=name, causes=(text,))
    changed = replace(finding_of_the_lab, finding=finding, arms=(arms[0], arms[1]), reductions=(text,))
    script.write(changed, folder / "repro")
    run = run_script(folder / "repro")
    assert (run.returncode, run.stderr) == (1, ""), run.stderr
    assert not list(folder.rglob("PWN"))
    assert f"--o={value}" in (folder / "words").read_bytes().decode().split("\0")
    (folder / "words").unlink()


def test_a_program_and_a_spec_with_hostile_names(lab, tmp_path):
    """As somebody may hand them in."""
    folder = tmp_path
    own, name, spec = Lab(folder), "x;>PWN;y", "a\ntouch PWN\n.yaml"
    own.write(SPEC.replace("count.sh", name), spec)
    (folder / name).write_text(PROGRAM)
    (folder / name).chmod(0o755)
    lock = {HOST_LOCK_OVERRIDE: str(lab.folder / "lock")}
    run = own.execute(own.argv("run", spec), **lock)
    assert run.returncode == 0, run.stdout + run.stderr
    run = own.execute(own.argv("repro", spec, "index=slow", "-o", "out"), **lock)
    assert run.returncode == 0, run.stderr
    run = run_script(folder / "out")
    assert (run.returncode, run.stderr) == (0, "")
    shutil.rmtree(folder / "outputs")
    run = run_script(folder / "out")
    assert run.returncode == 2
    assert run.stderr.endswith("x;>PWN;y: STEPGRID_A=/path names one\n")
    assert not list(folder.rglob("PWN"))


# Two builds

FLAGS = "{programs: run.sh, command: chmod +x run.sh}"
BUILDS = """\
title: two commits
builds:
  run: {engine: program, versions: [c0, c1], source: {git: "URL", ref: "{{ version }}"}, flags: FLAGS}
steps:
  - {name: read, kind: command, argv: ["{program:run.sh}"], metrics: {qps: {pattern: 'done: (\\d+)', better: higher}}}
repeat: 3
report: {base: {build: run-c0}}
"""


@needs("git")
def test_two_builds_are_two_files(tmp_path):
    repository = Repository(tmp_path / "repository")
    for number in (0, 1):
        repository.commit(tag=f"c{number}", run_sh=f"#!/bin/sh\necho done: {1000 - 100 * number}\n")
    lab = Lab(tmp_path)
    lab.write(BUILDS.replace("URL", repository.url).replace("FLAGS", FLAGS))
    lock = {HOST_LOCK_OVERRIDE: str(tmp_path / "lock")}
    run = lab.execute(lab.argv("run", "spec.yaml"), **lock)
    assert run.returncode == 0, run.stdout + run.stderr
    run = lab.execute(lab.argv("repro", "spec.yaml", "build=run-c1", "-o", "out"), **lock)
    assert run.returncode == 0, run.stderr
    folder, programs = tmp_path / "out", tmp_path / "bin"
    assert run_script(folder).returncode == 0
    shutil.rmtree(tmp_path / "outputs")
    programs.mkdir()
    for name in ("run.sh", "other.sh"):
        (programs / name).write_text("#!/bin/sh\necho done: 1000\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    run = run_script(folder, PATH=path)
    assert (run.returncode, run.stdout) == (2, "")
    head, title, *lines = run.stderr.splitlines()
    assert re.fullmatch(r"repro: there is no program /\S+/run\.sh: STEPGRID_A=/path names one", head)
    assert (title, lines[0]) == ("A was built from:", "program c0")
    commit = repository.git("rev-parse", "c0^{commit}")
    assert lines[1] == f"  git clone {repository.url} source && git -C source checkout {commit}"
    assert lines[2] == "  flags: command: chmod +x run.sh; programs: run.sh"
    one, other = str(programs / "run.sh"), str(programs / "other.sh")
    run = run_script(folder, STEPGRID_A=one, STEPGRID_B=one)
    sentence = f"repro: both arms would run one file, {one}: name two by STEPGRID_A and STEPGRID_B\n"
    assert (run.returncode, run.stdout, run.stderr) == (2, "", sentence)
    assert run_script(folder, STEPGRID_A=one, STEPGRID_B=other).returncode == 1
    readme = (folder / "README.md").read_text()
    assert f"    program c0\n      git clone {repository.url} source && git -C source checkout {commit}\n" in readme


REFUSED = rows(__file__, "refused")


@pytest.mark.parametrize(("words", "status", "message"), REFUSED)
def test_refused(lab, words, status, message):
    run = repro(lab, "-o", "refused", *words)
    assert (run.returncode, run.stderr.strip()) == (status, message)
    assert not (lab.folder / "refused").exists()
