"""Searches for the commit or release that made something slower: `stepgrid bisect`."""
