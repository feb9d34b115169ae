"""What `make lint` finds is a failed test: it runs beside the others."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_lint_finds_nothing() -> None:
    done = subprocess.run(["make", "--no-print-directory", "lint"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
