"""Usage from samples written by hand, against figures worked out by hand."""

import json
import sys

import pytest
from msgspec.structs import asdict

from stepgrid.host.processes.supervision import Program, environment, supervise
from stepgrid.host.sampling import Sampler
from tests.collect.reading import usage

HOLD = "import sys, time; held = b'x' * (90 << 20); time.sleep(float(sys.argv[1]))"


@pytest.mark.parametrize(
    ("argv", "resident"),
    [(["/bin/true"], False), ([sys.executable, "-c", HOLD, "0.3"], False), ([sys.executable, "-c", HOLD, "2.5"], True)],
)
def test_the_memory_of_a_step_is_plausible_or_absent(tmp_path, argv, resident):
    sampler = Sampler(tmp_path / "samples.jsonl", None)
    ended = supervise(Program(argv, environment(argv[0], {}), tmp_path), 60.0, sampler.start, sampler.stop)
    (tmp_path / "step.json").write_text(json.dumps(asdict(ended)))
    figures = usage(tmp_path, 10)
    assert figures["cpu_us_per_op"] == pytest.approx((ended.user + ended.system) * 1e5)
    assert ("process_rss_bytes" in figures) == resident or ended.seconds >= 1.9  # a busy host may stretch a step
    if "process_rss_bytes" in figures:
        assert 90 << 20 <= figures["process_rss_bytes"] <= ended.max_rss
