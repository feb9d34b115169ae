"""Values of variables that look like secrets reach the program, and no plan, record, report or export."""

import json
import os
import shutil
import stat
import subprocess
import tarfile

import pytest

from tests.integration.conftest import Lab

VALUE = "hunter2-SECRETVALUE"
SPEC = """\
title: a program with a password
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - {name: get, kind: command, argv: [sh, -c, "echo QPS ${#DB_PASSWORD}"], metrics: {qps: {pattern: 'QPS (\\d+)'}}}
launch: {env: {DB_PASSWORD: hunter2-SECRETVALUE, ACCOUNT: another-SECRETVALUE, MONKEY: visible}, secret: [ACCOUNT]}
allow: {no-repeats: a test}
hardware: {id: any}
"""


def _leaks(*paths):
    files = [file for path in paths for file in (path, *path.rglob("*")) if file.is_file()]
    return [file for file in files if b"SECRETVALUE" in file.read_bytes()]


def _members(file):
    with tarfile.open(file) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive if member.isfile()]
        return {name: content.read() for name, content in members if content}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("measured"))
    lab.write(SPEC)
    assert lab.run().returncode == 0
    return lab


@pytest.fixture
def lab(measured, tmp_path):
    """As measured once for all; to be changed."""
    shutil.copytree(measured.folder, tmp_path, symlinks=True, dirs_exist_ok=True)
    return Lab(tmp_path)


def test_a_password_reaches_the_program_and_no_record_of_it(lab, tmp_path):
    outputs = tmp_path / "outputs"
    (stdout,) = outputs.glob("results/*/*/steps/*/stdout")
    assert stdout.read_text() == "QPS 19\n", "the program got the value"
    (command,) = outputs.glob("results/*/*/steps/*/command.json")
    variables = json.loads(command.read_text())["env"]
    assert [variables[name][:15] for name in ("DB_PASSWORD", "ACCOUNT", "MONKEY")] == [
        *("secret, digest ", "secret, digest "),  # by a word of its name; because `secret` names it
        "visible",
    ]
    leaks = _leaks(outputs)
    assert {path.parent for path in leaks} == {outputs / "secrets"}, "plans and notes have digests, too"
    assert {stat.S_IMODE(path.stat().st_mode) for path in leaks} == {0o600}


def test_no_command_prints_a_password(lab):
    for words in (("plan", "--format", "json"), ("explain",), ("status",), ("report", "--format", "json")):
        printed = lab.execute(lab.argv(words[0], "spec.yaml", *words[1:]))
        assert printed.returncode == 0, printed.stderr
        assert "SECRETVALUE" not in printed.stdout + printed.stderr


def test_an_export_has_digests_in_the_spec_too(lab, tmp_path):
    file = tmp_path / "results.tar.gz"
    assert lab.execute(lab.argv("export", "spec.yaml", str(file))).returncode == 0
    texts = _members(file)
    assert not [name for name, text in texts.items() if b"SECRETVALUE" in text]
    (spec,) = [text.decode() for name, text in texts.items() if name.startswith("content/spec/")]
    assert "DB_PASSWORD: secret-digest-" in spec
    assert "MONKEY: visible" in spec


def test_a_value_that_set_gives_is_in_no_report_and_in_no_export(lab, tmp_path):
    words = ("--set", "launch.env.DB_PASSWORD=set-SECRETVALUE")
    run = lab.run(*words)
    assert run.returncode == 0, run.stderr
    assert "--set launch.env.DB_PASSWORD=..." in run.stdout, "of the next command"
    outputs, file = tmp_path / "outputs", tmp_path / "results.tar.gz"
    notes = {path: stat.S_IMODE(path.stat().st_mode) for path in _leaks(outputs) if path.parent.name != "secrets"}
    assert [(path.parent.name, mode) for path, mode in notes.items()] == [(".requests", 0o600)]
    assert lab.execute(lab.argv("export", "spec.yaml", str(file), *words)).returncode == 0
    assert not [name for name, text in _members(file).items() if b"SECRETVALUE" in text]


def test_a_script_takes_the_value_from_who_runs_it(tmp_path):
    lab = Lab(tmp_path)
    rates = (f"'{rate}': {{launch: {{env: {{DB_PASSWORD: {VALUE}, RATE: '{rate}'}}}}}}" for rate in (1000, 900))
    lab.write(
        SPEC.replace("echo QPS ${#DB_PASSWORD}", "echo QPS $((RATE - 19 + ${#DB_PASSWORD}))")
        .replace("+)'}", "+)', better: higher, unit: operations/s}")
        .replace("allow: {no-repeats: a test}", "repeat: 3\nreport: {base: {rate: '1000'}}")
        + f"sweep: {{rate: {{points: {{{', '.join(rates)}}}}}}}\n"
    )
    run = lab.run(STEPGRID_LOOK="0")
    assert run.returncode == 0, run.stderr
    repro = lab.execute(lab.argv("repro", "spec.yaml", "rate=900", "-o", "out", "--shrink"), STEPGRID_LOOK="0")
    assert repro.returncode == 0, repro.stderr
    assert not _leaks(tmp_path / "out")
    without, given = (
        subprocess.run(["sh", "out/repro.sh"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        for env in ({"PATH": os.environ["PATH"]}, {"PATH": os.environ["PATH"], "STEPGRID_DB_PASSWORD": VALUE})
    )
    assert (without.returncode, given.returncode) == (2, 0), given.stderr
    assert "STEPGRID_DB_PASSWORD: the value of DB_PASSWORD" in without.stderr


def test_a_value_that_is_missing_is_written_again_and_gc_keeps_it(lab, tmp_path):
    secrets = tmp_path / "outputs/secrets"
    names = sorted(path.name for path in secrets.iterdir())
    for path in secrets.iterdir():
        path.unlink()
    (secrets / "0123456789abcdef").write_text("of a spec that is gone")
    assert lab.run().returncode == 0
    assert lab.execute(lab.argv("gc", "spec.yaml", "--yes")).returncode == 0
    assert sorted(path.name for path in secrets.iterdir()) == names, "only what no plan has is moved to the trash"


def test_another_value_is_another_experiment(lab):
    lab.write(SPEC.replace(VALUE, "hunter3"))
    assert "0/1 done" in lab.execute(lab.argv("status", "spec.yaml")).stdout
    assert lab.run().returncode == 0
