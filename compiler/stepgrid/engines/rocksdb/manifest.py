"""Which files an LSM tree has on each level, by the MANIFEST of its folder: no program has to open it for that.

The file is a log of edits, in records that may be cut at the ends of blocks; an edit is a sequence of tagged fields.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

CURRENT = "CURRENT"  # names the manifest that holds
_BLOCK, _HEADER = 32768, 7  # bytes; a header is a checksum, a length and a type
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_ADDED, _DELETED = (7, 100, 102, 103), 6  # a file
_FAMILY, _NEW_FAMILY, _DROPPED_FAMILY = 200, 201, 202
_FULLEST, _WITH_PATH = 103, 102  # of the ways to add a file: those with fields of their own, with a path's number
_END_OF_FILE, _END_OF_BLOB = 1, 0  # of such fields
_IGNORABLE = 1 << 13  # in the tag of a field that says how long it is
_OF_ANOTHER_FORM = (8196, 8197)  # these do not, whatever their tags say: logs, of some releases that were told to
# all others: numbers, texts, and fields of their own
_OTHERS: Mapping[int, str] = {
    1: "t",  # the comparator
    **dict.fromkeys((2, 3, 4, 9, 10, 203, 300), "n"),
    5: "nt",
    **dict.fromkeys((400, 8194), "nnntt*"),  # a file of blobs
    **dict.fromkeys((401, 8195), "nnn*"),  # and what of it is garbage
}
_DEFAULT = "default"
Level = dict[str, float | str]


def levels(database: Path) -> list[Level]:
    """A row for each column family and level that has files, by columns of the table `levels`.

    Of all trees in the folder and below it. ValueError: a manifest that is damaged, or of a release that is not known.
    """
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for current in sorted(database.rglob(CURRENT)):
        manifest = current.parent / current.read_text(encoding="utf-8").strip()
        for at, sizes in _Tree().read(manifest.read_bytes()).items():
            found[at] += sizes
    return [
        {"family": family, "level": f"L{level}", "files": float(len(sizes)), "bytes": float(sum(sizes))}
        for (family, level), sizes in sorted(found.items())
    ]


class _Tree:
    """As the edits so far have left it."""

    def __init__(self) -> None:
        self._names = {0: _DEFAULT}
        self._files: dict[tuple[int, int], dict[int, int]] = {}  # family, level -> number -> bytes

    def read(self, manifest: bytes) -> Mapping[tuple[str, int], list[int]]:
        try:
            for record in _records(manifest):
                self._apply(_Fields(record))
        except IndexError:
            raise ValueError("a manifest ends within an edit") from None
        return {
            (self._names[family], level): [*files.values()] for (family, level), files in self._files.items() if files
        }

    def _apply(self, edit: _Fields) -> None:
        family = 0
        while edit.left:
            tag = edit.number()
            if tag == _FAMILY:
                family = edit.number()
            elif tag == _NEW_FAMILY:
                self._names[family] = edit.text().decode("utf-8", "replace")
            elif tag == _DROPPED_FAMILY:
                self._files = {at: files for at, files in self._files.items() if at[0] != family}
            else:
                self._of_a_file(family, tag, edit)

    def _of_a_file(self, family: int, tag: int, edit: _Fields) -> None:
        if tag in _ADDED:
            level, file, size = edit.added(tag)
            self._files.setdefault((family, level), {})[file] = size
        elif tag == _DELETED:
            level, file = edit.number(), edit.number()
            self._files.get((family, level), {}).pop(file, None)
        else:
            edit.skip(tag)


class _Fields:
    """The rest of an edit."""

    def __init__(self, record: bytes) -> None:
        self._record, self._at = record, 0

    @property
    def left(self) -> bool:
        return self._at < len(self._record)

    def number(self) -> int:
        """Seven bits a byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self._record[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self) -> bytes:
        size = self.number()
        self._at += size
        if self._at > len(self._record):
            raise IndexError
        return self._record[self._at - size : self._at]

    def added(self, tag: int) -> tuple[int, int, int]:
        """(level, number of the file, bytes)"""
        level, file = self.number(), self.number()
        if tag == _WITH_PATH:
            self.number()
        size = self.number()
        self.text(), self.text()  # the smallest key and the largest
        if tag != _ADDED[0]:
            self.number(), self.number()  # and of their sequence numbers
        if tag == _FULLEST:
            self._own(_END_OF_FILE)
        return level, file, size

    def skip(self, tag: int) -> None:
        form = _OTHERS.get(tag, "t" if tag & _IGNORABLE and tag not in _OF_ANOTHER_FORM else None)
        if form is None:
            raise ValueError(f"a manifest has a field {tag}, which is not known")
        for kind in form:
            if kind == "n":
                self.number()
            elif kind == "t":
                self.text()
            else:
                self._own(_END_OF_BLOB)

    def _own(self, end: int) -> None:
        while self.number() != end:
            self.text()


def _records(manifest: bytes) -> Iterator[bytes]:
    """What is at the end and not whole was never written to its end: it counts for nothing, as to the engine."""
    parts, at = list[bytes](), 0
    while at + _HEADER <= len(manifest):
        left = _BLOCK - at % _BLOCK
        if left < _HEADER:
            at += left
            continue
        size, kind = int.from_bytes(manifest[at + 4 : at + 6], "little"), manifest[at + 6]
        begin = at + _HEADER
        at = begin + size
        if kind not in (_FULL, _FIRST, _MIDDLE, _LAST) or at > len(manifest):
            return
        parts = [*([] if kind in (_FULL, _FIRST) else parts), manifest[begin:at]]
        if kind in (_FULL, _LAST):
            yield b"".join(parts)
