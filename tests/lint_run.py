"""`make lint` beside the tests: `pytest --lint` starts it, and fails where it does."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


class LintRun:
    """A plug-in of the process that reports: its words come before pytest's summary."""

    def __init__(self):
        argv = ["make", "--no-print-directory", "lint"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self._process = subprocess.Popen(argv, cwd=ROOT, text=True, **streams)
        self._output = ""

    def pytest_sessionfinish(self, session):
        self._output, _ = self._process.communicate()
        if self._process.returncode and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self._process.returncode:
            terminalreporter.write_sep("=", "make lint failed", red=True)
            terminalreporter.write(self._output)

    def pytest_unconfigure(self):
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
