"""Ctrl-C before a command has started is no traceback; a program that imports stepgrid keeps its own way."""

import signal
import subprocess
import sys

import pytest

KILL = "import os, signal, sys; sys.argv[0] = {name!r}; import stepgrid; os.kill(os.getpid(), signal.SIGINT)"
RESTORED = """
import signal, sys
sys.argv[:] = ["/x/stepgrid", "nothing"]
from stepgrid.errors import restore_interrupts
restore_interrupts()
print(signal.getsignal(2).__name__)
"""


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [("/bin/stepgrid", -signal.SIGINT, ""), ("mine.py", -signal.SIGINT, "KeyboardInterrupt")],
)
def test_while_it_is_imported(name, status, said):
    done = subprocess.run([sys.executable, "-c", KILL.format(name=name)], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip().splitlines()[-1:]) == (status, [said] if said else [])


def test_a_command_knows_it_again():
    done = subprocess.run([sys.executable, "-c", RESTORED], capture_output=True, text=True)
    assert done.stdout == "default_int_handler\n", done.stderr
