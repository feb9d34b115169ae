"""Protocols and tables of what plug-ins may be, and the registry that finds them; names no plug-in, starts nothing."""
