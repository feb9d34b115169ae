"""Clients on another machine whose ssh is a program here: no sshd, and a machine there that does what it likes."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from stepgrid.host.failure import StageError
from stepgrid.host.remote.relay import LOST_EXIT
from stepgrid.model.site import Site, SiteClient
from stepgrid.run import client_host
from tests.waiting import LONG, until

HONEST = '#!/bin/sh\nfor last; do :; done; exec sh -c "$last"\n'


def site(tmp_path, ssh=HONEST):
    (tmp_path / "ssh").write_text(ssh)
    (tmp_path / "ssh").chmod(0o755)
    return Site(tools={"ssh": str(tmp_path / "ssh")}, client=SiteClient("bench2", "127.0.0.1", str(tmp_path / "there")))


def run_there(tmp_path, *argv, ssh=HONEST, here=()):
    """Run a program there; return the step's folder, which has what came back, and the exit status."""
    step, reached = tmp_path / "step", site(tmp_path, ssh)
    step.mkdir()
    request = {
        "ssh": [reached.tool("ssh"), client_host.START], "host": "bench2",
        "folder": reached.client.folder, "argv": argv,
        "env": {"PATH": os.environ["PATH"]}, "files": {}, "programs": {}, "step": str(step),
        "reserved": [*client_host.FILES, *client_host.FOLDERS], "here": here,
    }  # fmt: skip
    (step / "request").write_text(json.dumps(request))
    relay = subprocess.Popen(
        [sys.executable, "-m", "stepgrid.host.remote.relay", "request"], cwd=step,
        stdout=(step / "stdout").open("w"), stderr=(step / "stderr").open("w"),
    )  # fmt: skip
    os.waitid(os.P_PID, relay.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    relay.send_signal(signal.SIGCONT)
    return step, relay.wait(LONG)


def test_a_path_is_replaced_as_a_whole(tmp_path):
    here = str(tmp_path / "step")
    step, _ = run_there(tmp_path, "printf", "%s\n", f"{here}/a", f"-I{here}", f"{here}y", f"{here}.b", f"/c{here}")
    below, option, *others = (step / "stdout").read_text().splitlines()
    assert below.startswith(f"{tmp_path}/there/steps/")
    assert option == f"-I{below.removesuffix('/a')}"
    assert others == [f"{here}y", f"{here}.b", f"/c{here}"]


def test_a_file_that_only_this_machine_has_is_named(tmp_path):
    file = tmp_path / "queries.sql"
    step, _ = run_there(tmp_path, "false", here=[str(file), "/etc/passwd"])
    file.touch()
    network = client_host.NetworkSpeed(1, 1, 1)
    host = client_host.ClientHost(site(tmp_path).client, (), "127.0.0.1", {}, network)
    sentence = f"; {file} is on this machine and not on bench2: list it under `files:`"
    assert host.missing_file(client_host.read_end(step)) == sentence


def test_what_others_have_in_a_folder_there_is_refused_and_kept(tmp_path):
    thesis = tmp_path / "there" / "steps" / "thesis"
    thesis.mkdir(parents=True)
    (thesis / "chapter1").write_text("years of work")
    os.utime(thesis, (time.time() - 1000,) * 2)
    step, _ = run_there(tmp_path, "true")
    assert (thesis / "chapter1").exists()
    refusal = "holds files that are not stepgrid's: `client: folder` must be a new or an empty folder"
    assert (step / "stderr").read_text() == f"bench2: {tmp_path}/there {refusal}\n"
    with pytest.raises(StageError, match="must be a new or an empty folder"):
        client_host.reach(site(tmp_path))


BROKEN = """\
#!{python}
import json, os, sys, time
end = dict(exit=0, seconds=0, user=0, system=0, max_rss=1, cpu_pct=1, network_bytes_per_s=1)
facts = dict(hostname="h", cpu="c", cores=2, memory=9, kernel="k", architecture="x", libc="glibc 2", python="3")
network = dict(rtt_us=1, rtt_p99_us=1, received=1)
def send(kind, payload=b""): os.write(1, kind + len(payload).to_bytes(4, "big") + payload)
def say(**values): send(b"J", json.dumps(values).encode())
def begin(): say(ready=True); time.sleep(0.5)
{script}
sys.stdin.buffer.read()
"""
NO_ANSWER = "bench2 sent something else than an answer: "
STEPS = {
    'begin(); say(end={**end, "exit": float("inf")})': NO_ANSWER + "JSON is malformed",
    'begin(); say(end={**end, "exit": -999})': NO_ANSWER + "Expected `int` >= -64",
    'begin(); say(end={**end, "exit": -19})': "bench2 sent an end that cannot be: ",
    'begin(); say(end={**end, "seconds": 1e300})': NO_ANSWER + "Expected `float` <=",
    'begin(); say(end={**end, "seconds": 99})': "bench2 sent an end that cannot be: ",
    'begin(); say(end={**end, "max_rss": float("nan")})': NO_ANSWER + "JSON is malformed",
    'begin(); say(sample={"process": 5})': NO_ANSWER + "Expected `object`",
    'begin(); send(b"J", b"[" * 200_000)': NO_ANSWER,
    r'begin(); say(file="\ud800")': NO_ANSWER,
    r'begin(); say(file="a\x1b[2Jb\n")': r"a file came back whose name is refused: 'a\x1b[2Jb\n'",
    r'begin(); say(error="\x1b[2J boo")': "bench2: ?[2J boo",
    r'begin(); os.write(2, b"x" * 9999 + b"\n\x1b]0;owned\x07\n"); os._exit(1)':
        "the connection to bench2 was lost: ?]0;owned?",
    r'os.write(1, b"Welcome\nto bench2\n")': "bench2 printed 'Welcome?to bench2' in place of an answer: ",
}  # fmt: skip


@pytest.mark.parametrize("script", STEPS)
def test_a_step_whose_machine_says_what_cannot_be_fails_with_one_sentence(tmp_path, script):
    step, status = run_there(tmp_path, "true", ssh=BROKEN.format(python=sys.executable, script=script))
    (line,) = (step / "stderr").read_text().splitlines()
    assert line.startswith(STEPS[script])
    assert (status, json.loads((step / "client.json").read_text())) == (LOST_EXIT, {"lost": line})
    assert {path.name for path in step.iterdir()} <= {"stdout", "stderr", "client.json", "client-samples.jsonl"}


LOOKS = {
    'say(facts={**facts, "cores": "many"}, network=network)': "Expected `int`",
    "say(facts={}, network=network)": "Object missing required field",
    'say(facts={**facts, "libc": 5}, network=network)': "Expected `str`",
    'say(facts=facts, network={**network, "received": 0})': "Expected `float` > 0",
    'say(facts=facts, network={**network, "rtt_us": float("nan")})': "JSON is malformed",
    'say(facts=facts, network={**network, "rtt_us": -5})': "Expected `float` > 0",
    'send(b"J", b"no JSON")': "JSON is malformed",
}
COPIES = {
    'say(missing="k")': "Expected `array`",
    'say(missing=["k"]); say(error="no space left"); os._exit(0)': "bench2: no space left",
    'say(missing=["k"])\nfor _ in range(30): send(b"B"); time.sleep(0.3)': "bench2 took nothing more for 2 s",
}


@pytest.mark.parametrize("script", [*LOOKS, *COPIES])
def test_a_machine_that_cannot_be_is_refused_before_a_step(tmp_path, monkeypatch, script):
    monkeypatch.setattr(client_host, "STALLED", 2.0)
    monkeypatch.setattr(client_host, "ANSWER", 2.0)
    hostile = site(tmp_path, BROKEN.format(python=sys.executable, script=script))
    (tmp_path / "big").write_bytes(b"0" * 4_000_000)
    network = client_host.NetworkSpeed(1, 1, 1)
    host = client_host.ClientHost(hostile.client, (hostile.tool("ssh"),), "127.0.0.1", {}, network)
    with pytest.raises(StageError) as refusal:
        client_host.reach(hostile) if script in LOOKS else host.provide({"k": tmp_path / "big"})
    assert str(refusal.value).startswith("the clients' machine: bench2")
    assert {**LOOKS, **COPIES}[script] in str(refusal.value)


AWKWARD = {
    "mkdir d; echo > d/x; echo secret > y; chmod 0 d y": ["d/x", "y"],
    "rm stdout; mkfifo stdout; echo > z": ["z"],
}


@pytest.mark.parametrize("script", AWKWARD)
def test_a_step_comes_back_and_leaves_nothing_whatever_it_does_to_its_folder(tmp_path, script):
    """As root and as an ordinary user."""
    nobody = 'exec setpriv --reuid=65534 --regid=65534 --clear-groups -- sh -c "$last"'
    users = (HONEST,) if os.geteuid() else (HONEST, HONEST.replace('exec sh -c "$last"', nobody))
    for number, ssh in enumerate(users):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            os.chown(folder, *((65534, 65534) if number else (-1, -1)))
            step, status = run_there(Path(folder), "sh", "-c", script, ssh=ssh)
            assert (status, (step / "stderr").read_text()) == (0, "")
            assert all((step / name).exists() for name in AWKWARD[script])
            until(lambda folder=folder: not list(Path(folder, "there", "steps").iterdir()), 10)
