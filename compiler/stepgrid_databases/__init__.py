"""Engines, kinds of steps, collectors and layouts of databases, found by entry points; the core imports none."""
