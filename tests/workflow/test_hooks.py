"""Hooks around a run: the lock of the checkout, signals to jobs, and the next round of loads."""

import json
import shutil
import signal
import socketserver
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from stepgrid.store.store import Store
from stepgrid.workflow import hooks, host_plan, run_request
from stepgrid.workflow.hooks import can_restart, child_pids, notify, signal_children
from tests.cli.bundles import measured, planned


def test_a_signal_where_snakemake_does_not_listen():
    code = (
        "import os, signal\n"
        "from stepgrid.workflow.hooks import Hooks\n"
        "Hooks(None).listen()\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (
        1,
        "stopped by SIGTERM: nothing that was measured is lost, the same command goes on from here\n",
    )


def test_a_child_of_another_thread_is_signalled_too():
    children = [subprocess.Popen(["sleep", "60"])]
    thread = threading.Thread(target=lambda: children.append(subprocess.Popen(["sleep", "60"])))
    thread.start()
    thread.join()
    assert {child.pid for child in children} <= set(child_pids())
    signal_children(signal.SIGTERM)
    assert [child.wait(timeout=60) for child in children] == [-signal.SIGTERM] * 2


@pytest.mark.parametrize(
    ("module", "program", "words", "possible"),
    [
        ("snakemake.__main__", "x", ["python", "-m", "snakemake"], True),
        ("stepgrid.cli.__main__", "x", ["python", "-m", "stepgrid.cli", "run", "a.yaml"], True),
        (None, "/opt/bin/snakemake", ["python", "/opt/bin/snakemake"], True),
        (None, "mine.py", ["python", "mine.py"], False),  # a program that uses either would begin anew as a whole
        ("pytest.__main__", "x", ["python", "-m", "pytest"], False),
        (None, "snakemake", ["python", "snakemake", "--directory", "elsewhere"], False),
    ],
)
def test_only_a_command_of_ours_or_snakemakes_is_run_again(monkeypatch, module, program, words, possible):
    spec = None if module is None else SimpleNamespace(name=module)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=spec))
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "orig_argv", words)
    assert can_restart() is possible


def test_lost_marks_of_results_and_builds(tmp_path, monkeypatch):
    measured(tmp_path, monkeypatch)
    plan, store = planned(), Store()
    marks = store.mark("_").parent
    shutil.rmtree(marks, ignore_errors=True)
    run_request.remaining_work(plan, store).restore_marks()
    expected = {stage.id: (store.result(stage.id) or tmp_path) / "result.json" for stage in plan.stages}
    expected |= {build.id: store.build(build.id) / "build.json" for build in plan.builds}
    assert {mark.name: mark.resolve() for mark in marks.iterdir()} == {
        node: path.resolve(strict=True) for node, path in expected.items()
    }


class Webhook(HTTPServer):
    status = 200
    slow_lines = 0

    def __init__(self):
        super().__init__(("127.0.0.1", 0), WebhookHandler)
        self.posts: list[tuple[str, dict[str, str]]] = []


class WebhookHandler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append((self.path, json.loads(body)))
        self.send_response(self.server.status)
        self.flush_headers()
        for _ in range(self.server.slow_lines):
            self.wfile.write(b"X: x\r\n")
            time.sleep(0.1)
        if self.server.status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def webhook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STEPGRID_SITE", raising=False)
    with Webhook() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Path("hook").write_text(f"http://127.0.0.1:{server.server_address[1]}/s3cret\n")
        Path("my-site.yaml").write_text("notify: hook\n")
        assert not host_plan.use_site_file("my-site.yaml")
        yield server
        server.shutdown()
    host_plan.use_site_file("")


def test_a_webhook_has_the_last_lines_of_a_run_once(webhook, capsys):
    notify("a title\n  all   1.10×\n" + "x" * 5000)
    ((path, message),) = webhook.posts
    assert path == "/s3cret"
    assert message["text"] == message["content"]
    assert message["text"].startswith("```\na title\n  all   1.10×\n")
    assert len(message["content"]) < 2000
    assert capsys.readouterr().err == ""


def test_a_webhook_that_answers_too_slowly_is_left(webhook, capsys, monkeypatch):
    monkeypatch.setattr(hooks, "POST_WAIT_S", 0.2)
    webhook.slow_lines = 15
    start = time.monotonic()
    notify("a title")
    assert time.monotonic() - start < 1
    assert "nobody was told: no answer in 0.2 s" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "reason"), [(302, "302"), (500, "500"), (None, "Connection refused")])
def test_who_cannot_be_told_is_no_failure_and_the_address_is_no_line(webhook, capsys, status, reason):
    if status is None:
        with socketserver.TCPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as free:
            Path("hook").write_text(f"http://127.0.0.1:{free.server_address[1]}/s3cret\n")
    else:
        webhook.status = status
    notify("a title")
    error = capsys.readouterr().err
    assert "nobody was told" in error
    assert reason in error
    assert "s3cret" not in error
    assert len(webhook.posts) == (status is not None), "a redirection is not followed"
