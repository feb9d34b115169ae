"""Values of variables that look like secrets reach the program, and no record or report."""

from __future__ import annotations

from pathlib import Path

from tests.integration.conftest import Lab

SPEC = """\
title: a program with a password
builds: {mine: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}}
steps:
  - {name: get, kind: command, argv: [sh, -c, "echo QPS ${#DB_PASSWORD}"], metrics: {qps: {pattern: 'QPS (\\d+)'}}}
launch: {env: {DB_PASSWORD: hunter2-SECRETVALUE, MONKEY: visible}}
allow: {no-repeats: a test}
hardware: {id: any}
"""


def test_a_password_reaches_the_program_and_no_record_of_it(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.write(SPEC)
    assert lab.run().returncode == 0
    outputs = tmp_path / "outputs"
    (stdout,) = outputs.glob("results/*/*/steps/*/stdout")
    assert stdout.read_text() == "QPS 19\n", "the program got the value"
    files = [*outputs.glob("results/**/*"), *outputs.glob("summary/**/*"), *outputs.glob("attempts/**/*")]
    texts = {path: path.read_bytes() for path in files if path.is_file()}
    assert not [path for path, text in texts.items() if b"SECRETVALUE" in text]
    (command,) = outputs.glob("results/*/*/steps/*/command.json")
    assert "secret, digest " in texts[command].decode()
    assert '"MONKEY": "visible"' in texts[command].decode(), "KEY counts as a word"
