"""Client programs on another machine, by ssh: a real sshd, paths that differ there, and the end of each end."""

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from stepgrid.host.remote.relay import LOST_EXIT
from stepgrid.model.plan import PlannedStep
from stepgrid.run import client_host
from tests.docs.pages import DOCS, write_files
from tests.integration import servers
from tests.integration.conftest import ROOT
from tests.integration.conftest import Lab as Checkout
from tests.integration.server_lab import opened
from tests.needs import needs
from tests.waiting import LONG, until

pytestmark = needs("sshd", "openssl", "apt", "maven")
STEP_MARK = "STEPGRID_CLIENT"
URGENT = ("chrt", "-r", "1")  # of a busy machine, latencies would be those of its stalls


@dataclass(frozen=True, slots=True)
class Machine:
    """What ssh knows as bench2."""

    folder: Path

    @property
    def programs(self):
        return self.folder / "there" / "programs"

    def write_site(self, path, listen):
        ssh, there = self.folder / "wrapper", self.folder / "there"
        path.write_text(f"tools: {{ssh: {ssh}}}\nclient: {{host: bench2, listen: {listen}, folder: {there}}}\n")

    def program(self, name):
        """The process of that name of a step there."""
        return next((process for process in self.processes() if process.name() == name), None)

    def processes(self):
        return [process for process in psutil.process_iter() if self._works_for(process)]

    def is_clear(self):
        return not self.processes() and not any((self.folder / "there" / "steps").iterdir())

    def _works_for(self, process):
        with suppress(psutil.Error):
            return str(self.folder) in process.environ().get(STEP_MARK, "")
        return False


def serve(folder, address, prefix=(), settings=""):
    """An sshd of our own with keys of its own; `prefix`: what starts it elsewhere; `settings`: more of them for ssh."""
    for name in ("host", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    own = {
        "Port": port, "ListenAddress": address, "HostKey": folder / "host", "AuthorizedKeysFile": folder / "key.pub",
        "StrictModes": "no", "PidFile": "none", "PermitRootLogin": "yes",
    }  # fmt: skip
    (folder / "sshd").write_text("".join(f"{name} {value}\n" for name, value in own.items()))
    known = f"UserKnownHostsFile {folder}/known\nStrictHostKeyChecking accept-new\nLogLevel ERROR\n"
    login = f"IdentityFile {folder}/key\nIdentitiesOnly yes\n{settings}"
    (folder / "ssh").write_text(f"Host bench2\nHostName {address}\nPort {port}\n{login}{known}")
    (folder / "wrapper").write_text(f'#!/bin/sh\nexec ssh -F {folder}/ssh "$@"\n')
    (folder / "wrapper").chmod(0o755)
    if not os.geteuid():
        Path("/run/sshd").mkdir(exist_ok=True)
    program = str(shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin"))
    argv = [*prefix, program, "-D", "-e", "-f", folder / "sshd"]
    with (folder / "log").open("w") as log:
        sshd = subprocess.Popen(argv, stderr=log)
    try:
        until(lambda: "Server listening" in (folder / "log").read_text(), 20)
        yield Machine(folder)
    finally:
        sshd.terminate()
        sshd.wait()


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "bench2").mkdir()
    yield from serve(tmp_path / "bench2", "127.0.0.1")


@pytest.fixture
def lab(server_builds, tmp_path, machine):
    (tmp_path / "lab").mkdir()
    with opened(server_builds, tmp_path / "lab") as lab:
        machine.write_site(lab.folder / "site.yaml", "127.0.0.1")
        yield lab


def plan(lab, *argv):
    settings = {"argv": list(argv), "metrics": {}, "series": {}, "files": [], "duration": 60.0}
    lab.plan("postgres", PlannedStep("ask", "command", 1, settings, {}, 1))


ENV = {"STEPGRID_SITE": "site.yaml", "STEPGRID_LOOK": "0"}
RUN = ("stepgrid.pipeline", "run-stage", "p", "s-1")
SCRIPT = """\
echo "$PWD"; echo "$0"; "$0" --version; echo oops >&2
mkdir -p a; echo kept > a/b; ln -s /etc/passwd link; mkfifo pipe; head -c 3000000 /dev/zero > zeros
(setsid sleep 98 &)
exit 3
"""


def test_a_program_runs_below_the_folder_there_and_leaves_nothing(lab, machine):
    plan(lab, "sh", "-c", SCRIPT, "{program:initdb}")
    ended = lab.run(*RUN, **ENV)
    assert ended.returncode == 1, ended.stderr
    assert lab.failure()["message"] == "it ended with exit status 3"
    (attempt,) = lab.store.attempts("s-1")
    step = attempt / "steps" / "0-ask"
    where, program, version = (step / "stdout").read_text().splitlines()
    assert where.startswith(f"{machine.folder}/there/steps/step-")
    assert program.startswith(f"{machine.programs}/b-")
    assert "17.11" in version
    assert (step / "stderr").read_text() == "oops\n"
    assert (step / "a" / "b").read_text() == "kept\n"
    assert (step / "zeros").stat().st_size == 3_000_000
    assert not {"link", "pipe", "client-request.json"} & {path.name for path in step.iterdir()}
    host = json.loads((attempt / "attempt.json").read_text())["host"]
    assert host["client_hostname"] == socket.gethostname()
    assert 0 < host["network_rtt_us"] <= host["network_rtt_p99_us"]
    until(machine.is_clear, 20)
    kept = [path.read_bytes() for path in (*attempt.rglob("*"), *machine.programs.rglob("*")) if path.is_file()]
    assert not [text for text in kept if b"PGPASSWORD=" in text]


ENDS = {
    "ssh": "the connection to bench2 was lost: ssh was killed by SIGKILL",
    "half there": "bench2: stepgrid's program there was killed by SIGKILL",
    "watcher": "the connection to bench2 was lost",
    "program": "",
}


@pytest.mark.parametrize("end", ENDS)
def test_whichever_end_there_is_killed_the_other_one_clears_up(machine, tmp_path, end):
    relay, program = start_sleep(machine, tmp_path)
    (ssh,), worker = psutil.Process(relay.pid).children(), program.parent()
    {"ssh": ssh, "half there": worker, "watcher": worker.parent(), "program": program}[end].kill()
    assert relay.wait(LONG) == (LOST_EXIT if ENDS[end] else -signal.SIGKILL)
    assert json.loads((tmp_path / "client.json").read_text()).get("lost", "") == ENDS[end]
    until(machine.is_clear, 20)


def start_sleep(machine, folder, prefix=()):
    """What stands for a program here, and the program there."""
    request = {
        "ssh": [str(machine.folder / "wrapper"), "--", "bench2", client_host.START], "host": "bench2",
        "folder": str(machine.folder / "there"), "argv": ["sleep", "97"], "env": {}, "files": {}, "programs": {},
        "step": str(folder), "reserved": [],
    }  # fmt: skip
    (folder / "request").write_text(json.dumps(request))
    argv = [*prefix, sys.executable, "-m", "stepgrid.host.remote.relay", "request"]
    relay = subprocess.Popen(argv, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")})
    os.waitpid(relay.pid, os.WUNTRACED)
    relay.send_signal(signal.SIGCONT)
    return relay, until(lambda: machine.program("sleep"))


@pytest.mark.parametrize("end", ["relay", "job"])
def test_whichever_end_here_is_killed_nothing_goes_on_there(lab, machine, end):
    plan(lab, "sleep", "97")
    runner = lab.start(*RUN, **ENV)
    until(lambda: machine.program("sleep"))
    children = psutil.Process(runner.pid).children(recursive=True)
    relay = next(process for process in children if "stepgrid.host.remote.relay" in process.cmdline())
    (ssh,) = relay.children()
    {"relay": relay, "job": psutil.Process(runner.pid)}[end].kill()
    assert runner.wait(LONG) == (1 if end == "relay" else -signal.SIGKILL)
    if end == "relay":
        lost = "the connection to bench2 was lost: ssh was killed by SIGKILL"
        assert lab.failure()["message"] == f"{lost} (by the kernel when memory runs out, or by someone)"
    until(machine.is_clear, 20)
    until(lambda: not relay.is_running() and not ssh.is_running(), 20)


def test_what_cannot_be_reached_is_said_before_a_server_starts(lab, machine):
    plan(lab, "true")
    (machine.folder / "key").unlink()
    lab.run(*RUN, **ENV)
    message = lab.failure()["message"]
    assert message.startswith("the clients' machine: the connection to bench2 was lost: ")
    assert "Permission denied (publickey" in message
    machine.write_site(lab.folder / "site.yaml", f"203.0.113.{secrets.randbelow(250) + 1}")
    lab.run(*RUN, **ENV)
    assert lab.failure()["message"].endswith(": Cannot assign requested address")


@contextmanager
def other_user():
    """A machine that ssh enters as a user whom no other process sees, if we are root; PostgreSQL never runs as root."""
    with tempfile.TemporaryDirectory(prefix="bench2-") as name:
        folder, users = Path(name), Path(name) / "passwd"
        if os.geteuid():
            prefix, settings = (), ""
        else:
            users.write_text(f"{Path('/etc/passwd').read_text()}bench2:x:54321:54321::{folder}:/bin/sh\n")
            os.chown(folder, 54321, 54321)
            prefix = ("unshare", "-m", "sh", "-c", f'mount --bind {users} /etc/passwd; exec "$@"', "sh")
            settings = "User bench2\n"
        with contextmanager(serve)(folder, "127.0.0.1", prefix, settings) as machine:
            yield machine


SHORT = {  # of the guide's specs: one stage of seconds
    r"values: \[\S+ (\S+)\]": r"values: [\1]", r"repeat: \d": "repeat: 1", r'"\d+",': '"5",', r"at: \d+s": "at: 1s",
    r"(clients: 1|threads: \d), duration: \d+s": r"\1, duration: 16s",
}  # fmt: skip


@pytest.mark.parametrize("spec", ["mariadb.yaml", pytest.param("follower.yaml", marks=pytest.mark.nightly)])
def test_a_follower_of_the_guide_runs_there_and_its_lag_is_what_was_planted(spec, tmp_path):
    lab = Checkout(tmp_path)
    write_files(DOCS / "guides/replication.md", lab.folder)
    text = (lab.folder / spec).read_text()
    for pattern, short in SHORT.items():
        text = re.sub(pattern, short, text)
    lab.write(text)
    with other_user() as machine:
        machine.write_site(lab.folder / "site.yaml", "127.0.0.1")
        run = lab.start(lab.argv("run", "spec.yaml", "--site", "site.yaml"), STEPGRID_LOOK="0")
        if spec == "mariadb.yaml":
            until(lambda: machine.processes() and list(machine.folder.glob("there/steps/*/sent")), LONG)
            follower = next(process for process in machine.processes() if "--server-id=2" in process.cmdline())
            follower.suspend()
            time.sleep(2)
            follower.resume()
        assert run.wait(LONG) == 0, lab.screen
        until(machine.is_clear, 20)
    (step,) = lab.folder.glob("outputs/results/*/*/steps/1-*_follower")
    (figures,) = re.findall(r"lag ([\d.]+) ([\d.]+) ms, of (\d+)", (step / "stdout").read_text())
    p50, most, looks = map(float, figures)
    assert 0 <= p50 <= most
    assert looks > 5
    assert most > (1900 if spec == "mariadb.yaml" else 0)
    assert not list(step.rglob("copy"))
    if not os.geteuid():
        assert not [path for path in step.rglob("*") if b"master_password" in path.read_bytes()]


SPEC = """\
title: clients elsewhere
define: {{builds: {{sysbench: {sysbench}}}}}
builds: {{postgres: {postgres}, mariadb: {mariadb}}}
steps:
  - {{name: load, kind: sysbench, lua: load, rows: 1000, tables: 1, threads: 1, mutates: true, measured: false}}
  - {{name: point, kind: sysbench, lua: point_query, rows: 1000, tables: 1, threads: 1, duration: 3s}}
  - name: tls
    kind: command
    argv: [sh, -c, "openssl s_client -starttls mysql -connect {{host}}:{{port}} </dev/null; true"]
repeat: 1
allow: {{step-short: a test}}
"""


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/net/tun").exists(), reason="no network namespaces here")
def test_latency_is_that_of_the_server_and_of_the_network(server_builds, tmp_path):
    """2 ms there and back, each packet delayed by a program; the machine there sees no file of this checkout."""
    usual = {}
    for name in ("near", "far"):
        lab = Checkout(tmp_path / name)
        shutil.copytree(server_builds, lab.folder / "outputs" / "builds", copy_function=os.link, symlinks=True)
        lab.write(SPEC.format(**servers.BUILDS))
        if name == "far":
            (tmp_path / "bench2").mkdir()
            with joined(tmp_path / "bench2", [ROOT, lab.folder]) as (prefix, machine):
                machine.write_site(lab.folder / "site.yaml", "10.77.0.1")
                done = lab.execute([*prefix, *lab.argv("run", "spec.yaml", "--site", "site.yaml")], STEPGRID_LOOK="0")
                assert done.returncode == 0, done.stdout + done.stderr
                until(machine.is_clear, 20)
                assert lost_network(machine, tmp_path, prefix) == "nothing came from bench2 for 15 s"
        else:
            argv = [*URGENT, *lab.argv("run", "spec.yaml", "--site", "")]
            assert lab.execute(argv, STEPGRID_LOOK="0").returncode == 0
        for path in lab.folder.glob("outputs/results/*/*/steps/1-point/stdout"):
            server = (path.parents[2] / "server" / "command.json").read_text()
            engine = "postgres" if "postgres" in server else "mariadb"
            text = path.read_text()
            (qps,) = re.findall(r"queries: .*\(([\d.]+) per sec", text)
            (mean,) = re.findall(r"avg: +([\d.]+)", text)
            buckets = re.findall(r"^ +([\d.]+) \|\**\s+(\d+)$", text, re.MULTILINE)
            peak = max((int(count), float(ms)) for ms, count in buckets)
            usual[name, engine] = peak[1]  # of a busy machine not the mean
            assert float(qps) * float(mean) == pytest.approx(1000, rel=0.03)
    hosts = [json.loads(path.read_text())["host"] for path in lab.folder.glob("outputs/results/*/*/attempt.json")]
    assert {str(host["client_tls"]) for host in hosts} == {"False", "in part"}  # openssl asks MariaDB for it
    assert not [path for path in (lab.folder / "outputs").rglob("*") if path.name == "init.sql"]  # it has a password
    commands = [path.read_text() for path in lab.folder.glob("outputs/results/*/*/steps/*/command.json")]
    assert not [text for text in commands if "10.77.0.1" in text or "HOME" in text]
    network = min(host["network_rtt_us"] for host in hosts) / 1000  # a busy machine delays some
    assert 2 < network < 2.6
    for engine in ("postgres", "mariadb"):
        assert usual["far", engine] == pytest.approx(usual["near", engine] + network, rel=0.1), (usual, network)
    (report,) = lab.folder.glob("outputs/summary/*/summary.txt")
    assert "clients on another machine (" in " ".join(report.read_text().split())


def lost_network(machine, folder, prefix):
    """Say why a step failed whose network went silent; its program there has ended as well."""
    relay, _ = start_sleep(machine, folder, prefix)
    (tunnel,) = [process for process in psutil.Process().children() if "slow_network" in "".join(process.cmdline())]
    tunnel.suspend()
    assert relay.wait(LONG) == LOST_EXIT
    until(machine.is_clear, 40)
    return str(json.loads((folder / "client.json").read_text())["lost"])


@contextmanager
def joined(folder, hidden):
    """Two network namespaces: what starts a command in the first one, and the machine in the second one."""
    hide = "; ".join(f"mount -t tmpfs none {path}" for path in hidden)
    waits = ["sh", "-c", "echo; exec sleep 600"]
    argvs = (["unshare", "-n", *waits], ["unshare", "-nm", "sh", "-c", f"{hide}; echo; exec sleep 600"])
    spaces = [subprocess.Popen(argv, stdout=subprocess.PIPE) for argv in argvs]
    try:
        for space in spaces:
            assert space.stdout
            space.stdout.readline()
        pids = [str(space.pid) for space in spaces]
        script = str(Path(__file__).with_name("slow_network.py"))
        relay = subprocess.Popen([sys.executable, script, *pids, "0.001"], stdout=subprocess.PIPE)
        spaces.append(relay)
        assert relay.stdout
        assert relay.stdout.readline() == b"joined\n"
        there = (*URGENT, "nsenter", "-t", pids[1], "-n", "-m", "--wd=/")
        with contextmanager(serve)(folder, "10.77.0.2", there) as machine:
            yield [*URGENT, "nsenter", "-t", pids[0], "-n"], machine
    finally:
        for space in spaces:
            space.kill()
            space.wait()
