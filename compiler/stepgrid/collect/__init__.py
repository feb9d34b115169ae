"""Figures read from the raw output of results, and the tables of a plan: it starts no step and judges nothing."""
