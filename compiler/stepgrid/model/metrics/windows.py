"""Over which time a figure is, where many metrics have the same."""

from __future__ import annotations

STEP = "the step, from its start to its exit"
MEASURED = "the step, without what db_bench opens before and drains after its benchmark"
BENCHMARK = "the measured benchmark: the first of the step that counts operations"
OPENED = "from when the step opened the database to its last statistics dump (its end, where it lists `stats`)"
END = "at the end of the step"
DUMP = "at the step's last statistics dump (its end, where it lists `stats`)"
SAMPLES = "mean of the samples: of the step, or what of it was measured"
