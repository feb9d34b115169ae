"""What was probably meant by a name that is not known: "did you mean", or what there is."""

from __future__ import annotations

from collections.abc import Collection, Iterable

MOST = 2_000  # names that one is compared with, which takes some milliseconds


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, or what there is."""
    names = sorted(set(known))
    if (close := nearest_name(name, names)) is not None:
        return f"did you mean `{close}`?"
    if not names:
        return "there is none here"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"known here: {shown}"


def nearest_name(name: str, known: Collection[str]) -> str | None:
    return next((other for other in close_names(name, known, 3) if _alike(name, other)), None)


def close_names(name: str, known: Collection[str], most: int = 1) -> list[str]:
    """Of very many names none: nobody has written them by hand."""
    from difflib import get_close_matches

    return get_close_matches(name, known, n=most) if len(known) <= MOST else []


def _alike(name: str, other: str) -> bool:
    """Of several words each must be: `redis_benchmark` is another program than `insert_benchmark`."""
    from difflib import SequenceMatcher

    words, others = name.split("_"), other.split("_")
    if len(words) != len(others) or len(words) == 1:
        return True
    return all(SequenceMatcher(None, *pair).ratio() >= 0.5 for pair in zip(words, others, strict=True))
