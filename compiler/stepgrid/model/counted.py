"""So many of something, in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    one, *other = noun.split(" or ")
    plural = " or ".join(f"{each}s" for each in (one, *other))
    return f"{number:,} {noun if number == 1 else plural}"
