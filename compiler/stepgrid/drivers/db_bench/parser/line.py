"""A line of an output by how it begins: a literal text is found fast, also from behind; the rest is then looked at."""

from __future__ import annotations

import re
from typing import NamedTuple


class Line(NamedTuple):
    begins: str
    goes_on: re.Pattern[str]

    def last(self, text: str) -> re.Match[str] | None:
        at = len(text)
        while (at := text.rfind(self.begins, 0, at)) >= 0:
            begun = at == 0 or text[at - 1] == "\n"
            if begun and (found := self.goes_on.match(text, at + len(self.begins))):
                return found
        return None


def line(begins: str, goes_on: str) -> Line:
    return Line(begins, re.compile(goes_on, re.MULTILINE))
