"""The exception of a build that cannot be had."""


class BuildError(Exception):
    """A sentence or two: what is wrong, what was expected and what to do."""
