"""Debian packages of any suite of the machine's own mirror, without root."""
