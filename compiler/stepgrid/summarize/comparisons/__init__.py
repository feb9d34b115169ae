"""Comparisons of arms with their base: ratios, verdicts, or why there is none. It never writes a report."""
