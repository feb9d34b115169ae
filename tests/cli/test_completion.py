"""Tab, as a real bash has it."""

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from stepgrid.package import SNAKEFILE
from tests.needs import needs
from tests.waiting import until


class Terminal:
    """An interactive bash that completes stepgrid."""

    def __init__(self, folder):
        self.main, other = pty.openpty()
        os.set_blocking(self.main, False)
        env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PS1": "> ", "TERM": "dumb"}
        self.bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"], cwd=folder, env=env, stdin=other, stdout=other, stderr=other,
            start_new_session=True,
        )  # fmt: skip
        os.close(other)
        self.said = ""
        self.type('eval "$(stepgrid completion bash)"; echo read""y\n', "ready")

    def type(self, keys, answer):
        self.said = ""
        os.write(self.main, keys.encode())
        until(lambda: answer in self._heard())

    def _heard(self):
        with suppress(BlockingIOError):
            self.said += os.read(self.main, 1 << 16).decode()
        return self.said

    def close(self):
        self.bash.kill()
        self.bash.wait()
        os.close(self.main)


@pytest.fixture
def bash(tmp_path):
    (tmp_path / "mine.yaml").write_text("title: t\nscales: {smoke: {}}\n")
    (tmp_path / "mine.txt").write_text("no spec")
    made = Terminal(tmp_path)
    yield made
    made.close()


@needs("bash")
def test_commands_options_files_and_names(bash):
    bash.type("stepgrid snak\t", "snakefile ")
    bash.type("\n", f"{SNAKEFILE}\r\n")
    bash.type("echo stays; stepgrid new ro\t", "rocksdb ")
    bash.type("\x15stepgrid run m\t", "mine.yaml ")  # Ctrl-U: begins anew
    bash.type("--sca\t", "--scale ")
    bash.type("s\t", "smoke ")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(shell):
    done = subprocess.run([sys.executable, "-m", "stepgrid.cli", "completion", shell], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert {"zsh": "compdef _python_argcomplete stepgrid", "fish": "complete --command stepgrid"}[shell] in done.stdout
