"""The jobs of this process, whichever thread started them."""

import signal
import subprocess
import threading

from stepgrid.workflow import snakemake_hooks


def test_a_child_of_another_thread_is_told_too():
    started = []
    thread = threading.Thread(target=lambda: started.append(subprocess.Popen(["sleep", "60"])))
    thread.start()
    thread.join()
    own = subprocess.Popen(["sleep", "60"])
    assert {own.pid, started[0].pid} <= set(snakemake_hooks.pids())
    snakemake_hooks.tell(signal.SIGTERM)
    assert [child.wait(timeout=60) for child in (own, started[0])] == [-signal.SIGTERM] * 2
