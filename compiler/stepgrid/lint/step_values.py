"""What a rule about one step may look at: the names that it declared, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_LARGEST = 2**64  # what is larger is a slip, and nothing to calculate with
_TRUE = (True, 1, "1", "true", "on", "ON")


class Facts:
    """Options and what the step's kind tells by name, settings as `step.NAME`, hardware as `hardware.NAME`.

    What is not given is None.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def given(self, name: str) -> bool:
        return self._values[name] is not None

    def is_on(self, name: str, default: bool = False) -> bool:
        value = self._values[name]
        return default if value is None else value in _TRUE

    def number(self, name: str, default: float | None = None) -> float | None:
        """A number, also where the engine writes it as text: 90G, 96GB."""
        value = self._values[name]
        if value is None or isinstance(value, bool):
            return default
        found = value if isinstance(value, int | float) else size(str(value))
        return None if found is None or abs(found) > _LARGEST else found

    def amount(self, name: str, default: float) -> float:
        found = self.number(name, default)
        return default if found is None else found


def size(text: str) -> float | None:
    match = _SIZE.fullmatch(text.strip())
    return float(match[1]) * _UNITS[match[2].upper()] if match else None


def release(numbers: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in numbers)
