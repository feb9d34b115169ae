"""What a browser may do for a page: run its one script, use its one style sheet, and load nothing from anywhere.

A name that became markup after all would run nothing and tell nobody."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

STYLE, SCRIPT = "style.css", "page.js"


def context(templates: Path, *, script: bool = True) -> Mapping[str, Markup]:
    """`policy`, `style` and `script` of a template; the browser compares the text of both to the policy."""
    texts = {"style": (templates / STYLE).read_text(encoding="utf-8")}
    if script:
        texts["script"] = (templates / SCRIPT).read_text(encoding="utf-8")
    allowed = [f"{name}-src 'sha256-{_digest(text)}'" for name, text in texts.items()]
    policy = "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])
    return {"policy": Markup(policy), **{name: Markup(text) for name, text in texts.items()}}


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
