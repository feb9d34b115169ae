"""A finding of an own program as a script: its text, its answer in a bare environment, and what shrinking leaves."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from stepgrid.drivers.command.selectors import texts_before_number
from stepgrid.host.locks import HOST_LOCK_OVERRIDE
from tests.golden import Golden
from tests.integration.conftest import Lab

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
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.write(SPEC)
    program = lab.folder / "count.sh"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    run = lab.run(**{HOST_LOCK_OVERRIDE: str(lab.folder / "lock")})
    assert run.returncode == 0, run.stdout + run.stderr
    return lab


def repro(lab: Lab, *words: str) -> subprocess.CompletedProcess[str]:
    return lab.execute(lab.argv("repro", "spec.yaml", *words), **{HOST_LOCK_OVERRIDE: str(lab.folder / "lock")})


def test_text_of_the_script(lab: Lab, golden: Golden) -> None:
    run = repro(lab, "index=slow", "-o", "text")
    assert run.returncode == 0, run.stderr
    assert re.fullmatch(r"text/repro.sh: 3 commands, \d+s, QPS 0.90 \[0.89, 0.91\] slower\n", run.stdout)
    for name in ("repro.sh", "README.md"):
        text = (lab.folder / "text" / name).read_text()
        golden(re.sub(r"in about \d+s", "in about 1s", re.sub(r"/\S+/b-\w+/", "/…/", text)))


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_it_needs_a_shell_alone(lab: Lab, shell: str) -> None:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"this machine has no {shell}")
    repro(lab, "index=slow", "-o", f"moved {shell}")
    folder = lab.folder / "elsewhere" / f"to {shell}"
    shutil.copytree(lab.folder / f"moved {shell}", folder)
    program = lab.folder / "elsewhere" / "counter"
    shutil.copy(lab.folder / "count.sh", program)
    argv = [path, *(["sh"] if shell == "busybox" else []), str(folder / "repro.sh")]
    environment = {"PATH": "/nowhere", "A": str(program), "ROUNDS": "2"}
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
    program.write_text("#!/bin/sh\necho done: 7e5 ops/s\n")
    run = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    output = f"{folder}/steps/3-read/1A.out"
    assert (run.returncode, run.stderr) == (2, f"repro: `7e5` is no number: see {output}\n")
    program.write_text("#!/bin/sh\nexit 7\n")
    run = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    output = f"{folder}/steps/1-load/1A.out"
    assert (run.returncode, run.stderr) == (2, f"repro: 1-load of A ended with status 7: see {output}\n")


def test_shrunk_to_the_cause(lab: Lab) -> None:
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


REFUSED = (
    (["index=slo"], 2, "axis `index` has no cell at `slo`: did you mean `slow`?"),
    (
        ["index=fast"],
        1,
        "build=count, index=fast is the base of the report: name another cell, or one to compare it with `--against`",
    ),
    (["index=slow", "--step", "red"], 1, "the cell has no measured step `red`: did you mean `read`?"),
    (["index=slow", "--metric", "qqs"], 1, "there is no metric `qqs`: did you mean `qps`?"),
    (
        ["index=slow", "--metric", "part"],
        1,
        "`part` of `read` is no figure that its program prints on a line of its own\n"
        "   = choose another by `--metric`: known here: qps",
    ),
    (
        ["index=slow", "--set", "options.pages=9"],
        1,
        "build=count, index=slow has no ratio of QPS over two loads or more\n"
        "   = `stepgrid run spec.yaml` measures it; `stepgrid status spec.yaml` shows how far it is",
    ),
    (
        ["index=same", "--shrink"],
        3,
        "read: 1.00 [0.99, 1.01] is no difference that a smaller script could show: measure more loads, or leave "
        "`--shrink` out",
    ),
    (
        ["index=slow", "-o", "outputs"],
        2,
        "outputs is there already: name a new folder, or one of an earlier `stepgrid repro`",
    ),
)


@pytest.mark.parametrize(("words", "status", "message"), REFUSED)
def test_refused(lab: Lab, words: list[str], status: int, message: str) -> None:
    run = repro(lab, "-o", "refused", *words)
    assert (run.returncode, run.stderr.strip()) == (status, message)
    assert not (lab.folder / "refused").exists()


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"ops/sec: ([\d.]+)", ("", "ops/sec: ")),
        (r"^qps\s+([0-9.]+)", ("qps", "")),
        (r"^(\d+)$", ("",)),
        (r"total .*\((\d+) ms", ("", "total ", "(")),
        (r'"qps" *: *([0-9.]+)', ("", '"qps"', ":")),
        (r"(\d+) ops", ()),
        (r"reads|writes (\d+)", ()),
        (r"(?i)qps (\d+)", ()),
    ],
)
def test_patterns_that_a_shell_can_read(pattern: str, texts: tuple[str, ...]) -> None:
    assert texts_before_number(pattern) == texts
