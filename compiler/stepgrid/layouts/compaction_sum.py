"""What all levels come to, of the compaction statistics at the end of a step: a row for each arm."""

from __future__ import annotations

from stepgrid.layouts import compaction
from stepgrid.plugins.layout import Layout

LAYOUT = Layout("compaction, all levels", compaction.sums, levels=True)
