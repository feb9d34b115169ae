"""The exception of a build that cannot be had."""

from stepgrid.errors import StepgridError


class BuildError(StepgridError):
    """A sentence or two: what is wrong, what was expected and what to do."""
