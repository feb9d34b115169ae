"""Holds nothing and is never called: the suite is stepgrid_conformance."""
