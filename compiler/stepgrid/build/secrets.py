"""Logs and reports are shown to others: what lets someone in stays out of them."""

from __future__ import annotations

import re

# a password, and a name without one: of https it may be a token
_IN_URL = re.compile(r"(https?://)[^\s/]+@|(\w+://[^\s/@:]+):[^\s/]+@")


def hidden(text: str) -> str:
    return _IN_URL.sub(lambda found: f"{found[1] or found[2] + ':'}***@", text)
