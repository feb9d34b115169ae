"""Tests that an author of a plug-in runs, and no run needs: `python -m stepgrid_conformance --engine NAME`."""
