"""Engines: identity, options, servers and their statistics, recipes; they know no kind of step but by its name."""
