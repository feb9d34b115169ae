"""The version of stepgrid, for whoever has to name it."""

__version__ = "0.1.0"
