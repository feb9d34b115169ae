"""Commands in forks of a process that has imported what they need: with Snakemake each takes 0.5 s of CPU time less.

As a program it reads a line of JSON for each command, and answers with its exit status.
"""

import atexit
import contextlib
import functools
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SNAKEMAKE = ("snakemake.cli", "snakemake.workflow", "snakemake.logging", "snakemake.scheduling.job_scheduler")
STAGE = (  # of a job that measures
    "stepgrid.pipeline",
    "stepgrid.run.stage",
    "stepgrid.collect.step_figures",
    "stepgrid.language.site",
    "stepgrid_databases.engines.rocksdb",
)
ROOT = Path(__file__).resolve().parents[1]
processor: list[float] = []  # seconds of each command


def execute(argv, folder, env, seconds, imports=SNAKEMAKE):
    """Run `python -m MODULE …` or `python FILE …` as a process of its own would, without input."""
    assert argv[0] == sys.executable, argv
    with tempfile.TemporaryDirectory() as output:
        request = {"argv": argv[1:], "folder": str(folder), "env": dict(env), "output": output, "seconds": seconds}
        status, spent = _server(*imports).ask(json.dumps(request))
        processor.append(spent)
        if status is None:
            raise subprocess.TimeoutExpired(argv, seconds)
        stdout, stderr = (Path(output, name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(argv, status, stdout, stderr)


class _Server:
    def __init__(self, *imports):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        argv = [sys.executable, str(Path(__file__).resolve()), *imports]
        self._process = subprocess.Popen(argv, cwd="/", text=True, **pipes)
        atexit.register(self._process.kill)

    def ask(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@functools.cache
def _server(*imports):
    return _Server(*imports)


def main():
    for name in sys.argv[1:]:
        __import__(name)
    if registry := sys.modules.get("stepgrid.plugins.registry"):
        assert registry.ENGINES.points, "are read once"
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        before = sum(os.times()[2:4])
        pid = os.fork()
        if pid == 0:
            _run(request)
        print(json.dumps([_status(pid, request["seconds"]), sum(os.times()[2:4]) - before]), flush=True)


def _run(request):
    """Become the command: its folder, environment, streams and arguments."""
    argv, folder, env, output = (request[name] for name in ("argv", "folder", "env", "output"))
    assert isinstance(argv, list)
    assert isinstance(env, dict)
    os.chdir(str(folder))
    os.environ.clear()
    os.environ.update(env)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{output}/{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    sys.path[:1] = [str(folder), *(str(Path(path).resolve()) for path in env.get("PYTHONPATH", "").split(":") if path)]
    sys.orig_argv = [sys.executable, *argv]  # with which a run starts its next round
    if argv[0] == "-m":
        sys.argv = argv[1:]
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = argv
        runpy.run_path(argv[0], run_name="__main__")
    sys.exit()


def _status(pid, seconds):
    """Its exit status once it has ended; none where it had to be killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


if __name__ == "__main__":
    main()
