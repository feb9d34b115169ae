"""Builds: obtains what a spec names, checks what it is, records it; one job per build."""
