"""Servers that a spec declares: Valkey by the shipped spec; and a small one, which also fails."""

import json
import os
import signal
import socket
import time
from contextlib import closing

import psutil
import pytest

from tests.integration.conftest import Lab
from tests.waiting import until

SERVER = """\
import os, pathlib, signal, socketserver, sys, time
data, port = pathlib.Path(sys.argv[1], "count"), int(sys.argv[2])
count = int(data.read_text()) if data.exists() else 0
def end(*_):
    data.write_text(str(count))
    os._exit(0)
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        global count
        for line in self.rfile:
            if line == b"die\\n":
                print("a fault that the log has", file=sys.stderr, flush=True)
                os._exit(3)
            count += 1
            self.wfile.write(b"%d\\n" % count)
signal.signal(signal.SIGTERM, end)
print("options", *sys.argv[3:], flush=True)
time.sleep(float(os.environ.get("SLOW", 0)))
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("127.0.0.1", port), Handler).serve_forever()
"""
CLIENT = """\
import socket, sys, time
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server, server.makefile("rw") as lines:
    for word in sys.argv[2:]:
        print(word, file=lines, flush=True)
        if word == "wait":
            time.sleep(60)
        print("count", lines.readline().strip(), flush=True)
"""
SPEC = """\
title: "a server of one's own"
builds:
  own:
    engine: program
    version: "1.0"
    source: {{system: python3}}
    service:
      argv: ["{{program:python3}}", tools/server.py, "{{data}}", "{{port}}", "{{options}}"]
      {more}
steps:
  - {{name: load, kind: command, mutates: true, argv: ["{{program:python3}}", tools/client.py, "{{port}}", a, b]}}
  - checkpoint: loaded
  - name: ask
    kind: command
    argv: ["{{program:python3}}", tools/client.py, "{{port}}", {words}]
    metrics: {{counted: {{pattern: 'count (\\d+)'}}}}
options: [{{threads: 2, fast: true}}]
probes: [{{name: look_seconds, after: [ask], command: [sh, tools/look.sh]}}]
collectors: [{{name: look, command: [sh, tools/look.sh], steps: ask}}]
allow: {{no-repeats: a try}}
"""
READY = 'ready: {port: "{port}", timeout: 60s}'


@pytest.fixture
def lab(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/server.py").write_text(SERVER)
    (tmp_path / "tools/client.py").write_text(CLIENT)
    (tmp_path / "tools/look.sh").write_text("echo looked")
    found = Lab(tmp_path)
    yield found
    left = found.processes()
    for process in left:
        process.kill()
    assert not left, f"processes were left behind: {left}"


def _write(lab, words="c", more=READY):
    lab.write(SPEC.format(words=words, more=more))


def test_its_database_goes_on_from_the_image_and_its_client_is_told_apart(lab):
    _write(lab)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    (image,) = lab.folder.glob("outputs/images/*/data/count")
    assert image.read_text() == "2"
    (step,) = lab.folder.glob("outputs/results/*/*/steps/0-ask")
    assert (step / "stdout").read_text() == "count 3\n"
    assert (step.parents[1] / "server/stdout").read_text() == "options --fast=true --threads=2\n"
    assert [path.read_text() for path in step.glob("*/*look*/stdout")] == ["looked\n", "looked\n"]
    sample = json.loads((step / "samples.jsonl").read_text().splitlines()[-1])
    assert sample["server"]["rss"] > 0
    assert "process" in sample


def test_nothing_is_left_of_it_when_its_runner_is_killed(lab):
    _write(lab, words="wait")
    run = lab.start(lab.argv("run", "spec.yaml"))
    event = _started(lab)
    runner = psutil.Process(event["pid"]).parent()
    os.kill(runner.pid, signal.SIGKILL)
    assert run.wait(60) == 3
    until(lambda: _has_ended(event["pid"]))
    with closing(socket.socket()) as probe:
        assert probe.connect_ex(("127.0.0.1", event["port"])) != 0


def _has_ended(pid):
    """A zombie has: whoever took it over may fetch it late."""
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def _started(lab):
    """The server's pid and port, once the step that waits runs."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for waiting in lab.folder.glob("outputs/attempts/s-*/*/steps/0-ask/stdout"):
            lines = (waiting.parents[2] / "journal.jsonl").read_text().splitlines()
            (pid,) = [each["pid"] for each in map(json.loads, lines) if each["event"] == "server started"]
            argv = json.loads((waiting.parents[2] / "server/command.json").read_text())["argv"]
            return {"pid": pid, "port": int(argv[3])}
        time.sleep(0.05)
    raise AssertionError(f"no step was started: {lab.screen}")
