"""What a spec's text may be made of: UTF-8, without characters that nobody sees or that end lines unseen."""

from __future__ import annotations

import re

from stepgrid.language.problems.problem import Location, Problems

_STRANGE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NAMES = {
    "\0": "NUL", "\t": "a tab", "\n": "a line break", "\r": "a carriage return", "\x1b": "ESC",
    "\u2028": "a line separator", "\u2029": "a paragraph separator",
}  # fmt: skip


def decoded(content: bytes, file: str, problems: Problems) -> str | None:
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        before = content[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        line = before[before.rfind(b"\n") + 1 :].decode("utf-8")
        where = Location(file, before.count(b"\n") + 1, len(line) + 1)
        message = f"`{file}` is not UTF-8 text: byte 0x{content[error.start]:02x}"
        problems.add("not-utf8", where, message, "save the file as UTF-8")
        return None


def cleaned(text: str, file: str, problems: Problems) -> str:
    """Without what YAML would stumble over, or count as the end of a line where nobody sees one."""
    found = [match for match in _STRANGE.finditer(text) if match[0] not in "\t\n"]
    for match in found[:10]:
        start = text.rfind("\n", 0, match.start()) + 1
        where = Location(file, text.count("\n", 0, start) + 1, match.start() - start + 1)
        hint = "in double quotes YAML has escapes for the few places that need one"
        problems.add("control-character", where, f"the file holds {shown(match[0])}", hint)
    return _STRANGE.sub(lambda match: match[0] if match[0] in "\t\n" else " ", text) if found else text


def strange(text: str, allowed: str = "\t\n") -> list[str]:
    """The control characters that a text holds, by name."""
    return [shown(character) for character in _STRANGE.findall(text) if character not in allowed]


def shown(character: str) -> str:
    name = _NAMES.get(character, "a control character")
    return f"{name} (U+{ord(character):04X})"
