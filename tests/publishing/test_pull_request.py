"""The comment and the check of a pull request, by a server that answers as GitHub documents its API (November 2026)."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "pull_request.py"
PULL_REQUEST = {"pull_request": {"number": 7, "head": {"sha": "a" * 40}}}
COMMENT = {"issue": {"number": 7}, "comment": {"body": "/benchmark"}}
PERSON = {"id": 5, "body": "<!-- stepgrid -->\nquoted by a person", "user": {"type": "User"}}


class Api(ThreadingHTTPServer):
    """A repository with one pull request: its comments, its checks, and what was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments: list[dict[str, Any]] = [
            *({"id": 100 + n, "body": "x", "user": {"type": "User"}} for n in range(100)),  # a page of them
            PERSON,
            {"id": 6, "body": "<!-- stepgrid -->\nof an account that is gone", "user": None},
        ]
        self.checks: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.refuses = False
        self.raw = b""  # in place of an answer


class Handler(BaseHTTPRequestHandler):
    server: Api

    def log_message(self, *words):
        pass

    def _answer(self):
        api, (path, _, query) = self.server, self.path.partition("?")
        api.requests.append(f"{self.command} {path.removeprefix('/repos/o/engine/')}")
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
        if api.raw:
            self.close_connection = True
            self.wfile.write(api.raw.removeprefix(b"nothing"))
            return None
        if api.refuses or self.headers["Authorization"] != "Bearer secret":
            return self._send(403, {"message": "Resource not accessible by integration"})
        kind, number = path.split("/")[4], path.rpartition("/")[2]
        if kind == "check-runs":
            if self.command == "POST":
                api.checks.append({"id": len(api.checks) + 1})
            check = api.checks[-1 if self.command == "POST" else int(number) - 1]
            check |= body
            return self._send(200, check)
        if self.command == "GET":
            start = 100 * (int(query.rpartition("page=")[2]) - 1)
            return self._send(200, api.comments[start : start + 100])
        if self.command == "POST":
            api.comments.append({"id": 1000 + len(api.comments), "user": {"type": "Bot"}})
        comment = (
            api.comments[-1] if self.command == "POST" else next(c for c in api.comments if c["id"] == int(number))
        )
        comment |= body
        return self._send(200, comment)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815

    def _send(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def api():
    with Api() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def tell(api, folder, *words, event=PULL_REQUEST, status=0):
    """Run the script as a job on a pull request does, and return what it sets and prints."""
    event_file, output = folder / "event.json", folder / "output"
    event_file.write_text(json.dumps(event))
    output.write_text("")
    job = {"API_URL": f"http://127.0.0.1:{api.server_port}", "REPOSITORY": "o/engine", "EVENT_PATH": str(event_file),
           "OUTPUT": str(output), "TOKEN": "secret", "SERVER_URL": "https://git.example", "RUN_ID": "42"}  # fmt: skip
    environment = {**os.environ, **{f"GITHUB_{name}": value for name, value in job.items()}}
    argv = [sys.executable, "-I", str(SCRIPT), *words]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return output.read_text() + done.stdout + (done.stderr if status else "")


def test_one_comment_is_written_and_updated(api, tmp_path):
    report = tmp_path / "report.md"
    for run, (status, conclusion) in enumerate((("4", "failure"), ("0", "success")), 1):
        assert tell(api, tmp_path, "begin") == f"check={run}\n"
        assert (api.checks[-1]["status"], api.checks[-1]["head_sha"]) == ("in_progress", "a" * 40)
        report.write_text(f"# this tree against main\n\nrun {run}\n")
        page = ("--page", "https://git.example/artifact")
        assert tell(api, tmp_path, "end", str(report), "--status", status, "--check", str(run), *page) == ""
        assert (api.checks[-1]["status"], api.checks[-1]["conclusion"]) == ("completed", conclusion)
        assert f"run {run}" in api.checks[-1]["output"]["summary"]
    ours = [comment["body"] for comment in api.comments if (comment["user"] or {}).get("type") == "Bot"]
    assert ours == [
        "<!-- stepgrid -->\n# this tree against main\n\nrun 2\n\n[Page of the report](https://git.example/artifact)\n"
    ]
    assert PERSON["body"] == "<!-- stepgrid -->\nquoted by a person"
    search = ["GET issues/7/comments"] * 2  # ours is on the second page
    asked = [request for request in api.requests if "comments" in request]
    assert asked == [*search, "POST issues/7/comments", *search, "PATCH issues/comments/1102"]


def test_a_second_gate_has_a_comment_of_its_own(api, tmp_path):
    report = tmp_path / "report.md"
    report.write_text("x" * 70_000)
    tell(api, tmp_path, "end", str(report))
    tell(api, tmp_path, "--name", "other", "--number", "9", "end", str(tmp_path / "missing.md"))
    first, second = (comment["body"] for comment in api.comments if (comment["user"] or {}).get("type") == "Bot")
    assert len(first) < 65_536
    assert (
        second
        == "<!-- other -->\nNo report was made.\n\n[Page of the report](https://git.example/o/engine/actions/runs/42)\n"
    )
    assert api.requests[-1] == "POST issues/9/comments"


def test_a_job_without_the_right_is_warned_and_goes_on(api, tmp_path):
    api.refuses = True
    assert (
        tell(api, tmp_path, "begin")
        == "::warning title=stepgrid::the pull request was not told: HTTP Error 403: Forbidden\n"
    )
    assert api.checks == []
    name = "a,b::\n::error title=x::y"
    printed = tell(api, tmp_path, "--name", name, "begin")
    assert printed.startswith(
        "::warning title=a%2Cb%3A%3A%0A%3A%3Aerror title=x%3A%3Ay::the pull request was not told: "
    )
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    "raw",
    [
        b"nothing",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\n\r\n[1]",
        b'HTTP/1.1 200 OK\r\n\r\n{"message": "moved"}',
        b"HTTP/1.1 200 OK\r\n\r\n<html>",
        b"what is this\r\n",
    ],
)
def test_an_answer_that_is_none_is_a_warning(api, tmp_path, raw):
    api.raw = raw
    for words in (("begin",), ("end", "missing.md")):
        printed = tell(api, tmp_path, *words)
        assert printed.startswith("::warning title=stepgrid::the pull request was not told: ")
        assert printed.count("\n") == 1


def test_a_link_is_not_posted(api, tmp_path):
    (tmp_path / "report.md").symlink_to("/proc/self/environ")
    tell(api, tmp_path, "end", str(tmp_path / "report.md"))
    assert "No report was made: report.md is a link.\n" in api.comments[-1]["body"]
    assert "secret" not in api.comments[-1]["body"]


def test_wrong_words_ask_nothing_of_the_api(api, tmp_path):
    for words in (("--number", "7/../9", "end", "x.md"), ("end", "x.md", "--check", "1/../2")):
        assert "expected a decimal number, found " in tell(api, tmp_path, *words, status=2)
    assert "has no commit: give --sha" in tell(api, tmp_path, "begin", event=COMMENT, status=2)
    assert api.requests == []
    assert tell(api, tmp_path, "--sha", "b" * 40, "begin", event=COMMENT) == "check=1\n"
    assert api.checks[-1]["head_sha"] == "b" * 40
