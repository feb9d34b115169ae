"""What was probably meant by a name that is not known: "did you mean", or what there is."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, or what there is."""
    names = sorted(set(known))
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    if not names:
        return "there is none here"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"known here: {shown}"
