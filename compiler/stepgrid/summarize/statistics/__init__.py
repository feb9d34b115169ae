"""Intervals, noise and verdicts: numbers in, numbers and words out. It never knows of a step, an arm or a table."""
