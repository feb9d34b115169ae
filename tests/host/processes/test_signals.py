"""A folder that must not outlive the process that uses it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

USER = "import sys, time; from pathlib import Path; from stepgrid.host.processes.signals import guard_folder; "
WAITS = USER + "guard_folder(Path(sys.argv[1])); print('guarded', flush=True); time.sleep(600)"


def filled(folder: Path) -> Path:
    (folder / "source-cache").mkdir(parents=True)
    (folder / "source-cache" / "rules.smk").write_text("rule build:\n")
    return folder


def test_a_process_that_is_killed_leaves_none(tmp_path):
    folder = filled(tmp_path / "a folder; $HOME")
    with subprocess.Popen([sys.executable, "-c", WAITS, str(folder)], stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        user.stdout.readline()
        assert folder.exists()
        os.kill(user.pid, signal.SIGKILL)
    for _ in range(600):
        if not folder.exists():
            break
        time.sleep(0.1)
    assert not folder.exists()
