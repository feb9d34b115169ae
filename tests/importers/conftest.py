"""What the tests of published results share: the samples, which are read where they are and never copied in."""

import os
from pathlib import Path

import pytest

SAID = os.environ.get("STEPGRID_SAMPLES")
SAMPLES = Path(SAID or Path(__file__).resolve().parents[3] / "shared" / "samples")


@pytest.fixture
def samples():
    if not SAMPLES.is_dir():
        assert not SAID, f"STEPGRID_SAMPLES says {SAID}, and there is no such folder"
        pytest.skip(f"the samples are not at {SAMPLES}: STEPGRID_SAMPLES says where they are")
    return SAMPLES


@pytest.fixture
def published(samples):
    """The folder of a kind."""
    return lambda kind: samples / "published" / kind
