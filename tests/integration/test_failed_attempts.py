"""Failed attempts leave a trace: in reports of what passed in another attempt, and in the annotations of CI."""

import json

import pytest

from tests.integration.conftest import Lab

pytestmark = pytest.mark.integration
SPEC = """\
title: comes and goes
builds: {mine: {engine: program, version: 1.0.0, source: {path: src}, flags: {COMMANDprograms: say.sh}}}
steps:
  - name: read
    kind: command
    argv: ["{program:say.sh}", FOLDER]
    metrics: {qps: {pattern: 'x (\\d+)', required: true}}
repeat: 3
"""
# the first two loads fail once
FLAKY = """\
#!/bin/sh
for number in 1 2; do
    [ -e "$1/$number" ] || { touch "$1/$number"; echo cannot open db.sst >&2; exit 1; }
done
echo x 1000
"""


def lab_with(folder, program, command=""):
    lab = Lab(folder)
    lab.write(SPEC.replace("COMMAND", f"command: '{command}', " if command else "").replace("FOLDER", str(folder)))
    (folder / "src").mkdir()
    (folder / "src/say.sh").write_text(program)
    (folder / "src/say.sh").chmod(0o755)
    return lab


def report(lab, *options):
    done = lab.execute(lab.argv("report", "spec.yaml", *options))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_stages_that_failed_and_have_a_result_now(tmp_path):
    lab = lab_with(tmp_path, FLAKY)
    assert lab.run().returncode != 0
    done = lab.run()
    assert done.returncode == 0, done.stderr
    number = "2 of 3 stages of read failed in another attempt"
    text = (
        f"{number} than the one that counts: it ended with exit status 1: `cannot open db.sst`; "
        "outputs/attempts has what they printed"
    )
    assert number in report(lab)
    assert f"- {text}" in report(lab, "--format", "markdown")
    assert text in json.loads(report(lab, "--format", "json"))["warnings"]
    (page,) = tmp_path.glob("outputs/summary/*/index.html")
    assert number in page.read_text()
    assert "::error" not in report(lab, "--format", "github")


def test_a_crash_is_an_error_of_ci(tmp_path):
    lab = lab_with(tmp_path, "#!/bin/sh\nkill -SEGV $$\n")
    assert lab.run().returncode != 0
    (line,) = report(lab, "--format", "github").splitlines()
    title = "title=failed%3A read of mine (3 stages)"
    assert line.startswith(f"::error file=spec.yaml,{title}::it was killed by SIGSEGV%0Alog: outputs/attempts/s-")
    assert "failed in another attempt" not in report(lab)


def test_the_first_error_of_a_compiler_is_an_error_of_ci(tmp_path):
    lab = lab_with(tmp_path, "", "sh make.sh")
    error = "main.c:2:41: error: expected a semicolon"
    lines = ["main.c: In function main:", error, *("more" for _ in range(30)), "main.c:9:1: error: another"]
    (tmp_path / "src/make.sh").write_text("".join(f"echo '{line}'\n" for line in lines) + "exit 2\n")
    assert lab.run().returncode != 0
    (line,) = report(lab, "--format", "github").splitlines()
    assert line.startswith(
        "::error file=spec.yaml,title=failed%3A build mine::the build's command sh ended with exit status 2: "
        f"`{error}`%0Alog: outputs/attempts/b-"
    )
