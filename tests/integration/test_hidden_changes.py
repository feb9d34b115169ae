"""Files that no `files:` lists: a change of one that is named measures again, and the plan says which it was."""

from functools import partial

import pytest

from tests.integration.conftest import Lab

SPEC = """\
title: what a step reads
builds: {mine: {engine: program, version: "1.0", source: {system: FOLDER/bin/one}, flags: {programs: "one two"}}}
MORE
steps:
  - {name: put, kind: command, argv: [ARGV], metrics: {rows: {pattern: '(\\d+) rows'}}}
allow: {no-repeats: a test}
"""
PROBE = "probes: [{name: size, before: [put], command: [sh, FOLDER/probe.sh]}]"
at_night = partial(pytest.param, marks=pytest.mark.nightly)


@pytest.mark.parametrize(
    ("argv", "more", "file", "reason"),
    [
        ('"{program:one}", --config=c1.ini', "", "c1.ini", "files.c1.ini"),
        ('"{program:one}"', PROBE, "probe.sh", "files.FOLDER/probe.sh"),
        at_night("mytool, x", "", "bin/mytool", "files.mytool"),
        at_night('"{program:one}"', "launch: {env: {CONF: env.ini}}", "env.ini", "files.env.ini"),
        at_night('"{program:two}"', "", "bin/two", "build.pin.FOLDER/bin/two"),
    ],
)
def test_a_change_is_measured_and_named(tmp_path, argv, more, file, reason):
    lab = Lab(tmp_path)
    lab.write(SPEC.replace("ARGV", argv).replace("MORE", more).replace("FOLDER", str(tmp_path)))
    (tmp_path / "bin").mkdir()
    for name in ("bin/one", "bin/two", "bin/mytool", "c1.ini", "env.ini", "probe.sh"):
        (tmp_path / name).write_text("#!/bin/sh\necho 5 rows\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}/bin:/usr/bin:/bin"

    def execute(command):
        done = lab.execute(lab.argv(command, "spec.yaml"), PATH=path)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    execute("run")
    assert "to do    nothing\n" in execute("plan")
    (tmp_path / file).write_text("#!/bin/sh\necho 6 rows\n")
    assert reason.replace("FOLDER", str(tmp_path)) in execute("plan")
    if file == "c1.ini":
        execute("run")
        assert len(lab.results()) == 2
        assert "to do    nothing\n" in execute("plan")
