"""Whatever a spec, a site file or a command line names: reading it comes to an end, and no more of it than a bound."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from stepgrid.cli import main

SECONDS = 10
SPARSE = 4 << 40  # bytes of a file that has none


@pytest.fixture(autouse=True)
def patience():
    """What waits for a writer, or for the end of what has none, is told apart from what is slow."""

    def over(*_):
        raise AssertionError(f"it goes on after {SECONDS} s")

    former = signal.signal(signal.SIGALRM, over)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, former)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A checkout of somebody else."""
    (tmp_path / "checkout" / "outputs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("STEPGRID_SITE", "")
    shutil.copy(shutil.which("true") or "/bin/true", "program")
    return tmp_path / "checkout"


def sparse(name):
    with Path(name).open("wb") as file:
        file.truncate(SPARSE)
    Path(name).chmod(0o755)


OBJECTS = {
    "pipe": lambda name: os.mkfifo(name, 0o755),
    "folder": lambda name: Path(name).mkdir(),
    "zero": lambda name: Path(name).symlink_to("/dev/zero"),
    "kernel": lambda name: Path(name).symlink_to("/proc/self/pagemap"),
    "sparse": sparse,
}
BUILD = "builds: {p: {engine: program, version: 1.0.0, source: {system: /bin/true}}}\n"
STEP = "steps: [{name: s, kind: command, argv: [x], duration: 1s}]\n"
TITLE = "title: t\n"
SERVER = "builds: {p: {engine: postgres, version: 17.1, source: {system: postgres}}}\n"


def build(source, more=""):
    return f"{TITLE}builds: {{p: {{engine: program, version: 1.0.0, source: {source}{more}}}}}\n{STEP}"


def step(settings, builds=BUILD):
    return f"{TITLE}{builds}steps: [{{name: s, {settings}}}]\n"


# every key of the language that names a file
KEYS = {
    "include": f"{TITLE}include: x.yaml\n{BUILD}{STEP}",
    "include within a build": f"{TITLE}include: [x.yaml]\n{BUILD}{STEP}",
    "source.path": build("{path: x}"),
    "source.path within": build("{path: .}"),
    "source.files": build("{path: ., files: [x]}"),
    "source.system": build("{system: FOLDER/x}"),
    "source.requirements": build("{requirements: x.txt}"),
    "source of a script": build("{path: ., files: [x.py]}", ", flags: {programs: x.py}"),
    "programs": build("{path: .}", ", flags: {command: 'true', programs: x}"),
    "patches": build("{git: 'https://example.org/r.git', ref: v1.0.0}", ", patches: [x]"),
    "argv": step("kind: command, argv: [cat, ./x]"),
    "argv, the program": step("kind: command, argv: [./x]"),
    "argv, in a script": step("kind: command, argv: [sh, -c, 'cat ./x']"),
    "files": step("kind: command, argv: ['true'], files: [x]"),
    "launch.env": step("kind: command, argv: ['true'], launch: {env: {A: ./x}}"),
    "launch.argv": step("kind: command, argv: ['true'], launch: {argv: [./x, '{argv}']}"),
    "service": step("kind: command, argv: ['true'], service: {argv: [./x]}"),
    "before": step("kind: command, argv: ['true'], before: [{name: b, argv: [cat, ./x]}]"),
    "collectors": step("kind: command, argv: ['true'], collectors: [{name: c, command: [cat, ./x]}]"),
    "scripts": step("kind: pgbench, scripts: {x.sql: {weight: 1}}, clients: 1, duration: 1s", SERVER),
    "lua": step("kind: sysbench, lua: x.lua, rows: 10, threads: 1, duration: 1s", SERVER),
    "data set": step("kind: vector_search, action: load, dataset: x.hdf5", SERVER),
}
NAMES = ("x", "x.yaml", "x.txt", "x.py", "x.sql", "x.lua", "x.hdf5")
READING = ("check", "plan", "status", "explain", "lock", "outdated", "builds", "report", "gc", "results", "doctor")


def name_of(text):
    return next(name for name in sorted(NAMES, key=len, reverse=True) if name in text.replace("example", ""))


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_that_names_a_file(key, kind, folder, capsys):
    text = KEYS[key].replace("FOLDER", str(folder))
    OBJECTS[kind](name_of(text))
    Path("s.yaml").write_text(text)
    assert main(["plan", "s.yaml"]) in (0, 1), capsys.readouterr().err


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("name", ["s.yaml", "s.lock.yaml", "site.yaml"])
def test_a_file_of_ours(name, kind, monkeypatch):
    Path("s.yaml").write_text(f"{TITLE}{BUILD}{STEP}")
    Path(name).unlink(missing_ok=True)
    OBJECTS[kind](name)
    monkeypatch.delenv("STEPGRID_SITE")
    for command in READING:
        assert main([command, *([] if command == "doctor" else ["s.yaml"])]) in (0, 1, 2), command
