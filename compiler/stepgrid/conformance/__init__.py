"""Tests that a plug-in's author runs: `pytest --pyargs stepgrid.conformance --engine NAME` (docs/plugins.md)."""
