from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOOK = """
import importlib.metadata
importlib.metadata.distributions = lambda *_, **__: print("looked for plugins") or []
from stepgrid.language.models import Spec
Spec.model_rebuild(force=True)
"""


def test_no_installed_package_has_a_say_in_what_a_spec_means() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
