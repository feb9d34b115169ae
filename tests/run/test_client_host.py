"""Clients on another machine whose ssh is a program here: no sshd, and a machine there that does what it likes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from stepgrid.host.failure import StageError
from stepgrid.model.site import Site, SiteClient
from stepgrid.run import client_host
from tests.waiting import LONG

HONEST = '#!/bin/sh\nfor last; do :; done; exec sh -c "$last"\n'


def site(tmp_path, ssh=HONEST):
    (tmp_path / "ssh").write_text(ssh)
    (tmp_path / "ssh").chmod(0o755)
    return Site(tools={"ssh": str(tmp_path / "ssh")}, client=SiteClient("bench2", "127.0.0.1", str(tmp_path / "there")))


def run_there(tmp_path, *argv, ssh=HONEST):
    """Run a program there; return the step's folder, which has what came back, and the exit status."""
    step, reached = tmp_path / "step", site(tmp_path, ssh)
    step.mkdir()
    request = {
        "ssh": [reached.tool("ssh"), client_host.START], "host": "bench2",
        "folder": reached.client.folder, "argv": argv,
        "env": {"PATH": os.environ["PATH"]}, "files": {}, "programs": {}, "step": str(step),
        "reserved": [*client_host.FILES, *client_host.FOLDERS],
    }  # fmt: skip
    (step / "request").write_text(json.dumps(request))
    relay = subprocess.Popen(
        [sys.executable, "-m", "stepgrid.host.remote.relay", "request"], cwd=step,
        stdout=(step / "stdout").open("w"), stderr=(step / "stderr").open("w"),
    )  # fmt: skip
    os.waitpid(relay.pid, os.WUNTRACED)
    if relay.poll() is None:
        relay.send_signal(signal.SIGCONT)
    return step, relay.wait(LONG)


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
