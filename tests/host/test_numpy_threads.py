from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

PROGRAM = """
import os
from stepgrid.host.numpy_threads import alone
alone()
import numpy
print(len(os.listdir("/proc/self/task")), os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.parametrize(("given", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, min(2, os.cpu_count() or 1))])
def test_numpy_begins_no_threads_unless_it_is_asked_to(given: Mapping[str, str], threads: int) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**plain, **given}, capture_output=True, text=True)
    assert done.stdout == f"{threads} {given.get('OPENBLAS_NUM_THREADS', 1)}\n"
