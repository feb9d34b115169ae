"""Expand a spec to cells, with every layer of options and params applied; nothing is started, fetched or written."""
