"""What a build fails with."""

from __future__ import annotations

from stepgrid.errors import StepgridError


class BuildError(StepgridError):
    """A build that cannot be had: one or two sentences, what was expected and what to do."""
