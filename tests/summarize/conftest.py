"""Lets the tests of collect and summarize share the synthetic experiment that lies here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
