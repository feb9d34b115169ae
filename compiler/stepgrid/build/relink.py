"""Links of one program: a linker that takes its object files, and the members of its archives, in another order.

A script of its own as well: `relink.py LINKER LINK LOG WORD…` runs LINKER with WORDs, of which the files of the build,
beside its LOG, are in the order of LINK. Object files change places only with their neighbours, so an archive stays
behind its users.
"""

from __future__ import annotations

import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import TypeVar

_LINKERS = ("ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold")
_ARCHIVE, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER, _SIZE, _NAME = 60, slice(48, 58), slice(0, 16)  # bytes of the header of a member
_SYMBOLS, _LONG_NAMES = (b"/", b"/SYM64/"), b"//"  # tables among the members of an archive
_DRAWS = 20  # of an order for each link
_Item = TypeVar("_Item")


def install_linkers(folder: Path, log: Path, link: int) -> Path:
    """Write a command for each linker of this machine into a folder for PATH, and return the folder.

    `log`: of the build, whose folder has all trees."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _LINKERS:
        if linker := shutil.which(name):
            words = [sys.executable, "-I", "-S", __file__, linker, str(link), str(log)]
            (folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
            (folder / name).chmod(0o755)
    return folder


def relinked_files(log: Path) -> list[str]:
    """Read from a build's log which files were linked in another order."""
    return re.findall(r"^relinked (.+): \d+ ", log.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)


def shuffle(items: Sequence[_Item], link: int) -> list[_Item]:
    """Order items for a link: link 1 as they are, and no two links alike as long as there are orders."""
    generator, orders = random.Random(len(items)), [[*range(len(items))]]
    for _ in range(_DRAWS * link):
        if len(orders) < link:
            order = generator.sample(orders[0], len(items))
            orders += [] if order in orders else [order]
    return [items[index] for index in orders[(link - 1) % len(orders)]]


# The linker


@dataclass  # without the environment's packages: a linker is started alone
class _Link:
    number: int
    tree: Path
    folder: Path  # for copies of archives
    moved: int = 0  # objects, and members of archives
    copies: dict[Path, Path] = field(default_factory=dict)

    def reorder(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the words of a linker in this link's order."""
        folders = [Path(word[2:]) for word in words if word.startswith("-L")]
        pairs = list(zip(["", *words], words, strict=False))
        for are_objects, run in groupby(pairs, lambda pair: pair[0] != "-o" and self._is_ours(Path(pair[1]), ".o")):
            linked = [word for _, word in run]
            yield from self._shuffle(linked) if are_objects else [self._library(word, folders) for word in linked]

    def _is_ours(self, path: Path, suffix: str) -> bool:
        return path.suffix == suffix and path.is_file() and path.resolve().is_relative_to(self.tree)

    def _shuffle(self, items: Sequence[_Item]) -> list[_Item]:
        self.moved += len(items) if len(items) > 1 else 0
        return shuffle(items, self.number)

    def _library(self, word: str, folders: Sequence[Path]) -> str:
        """Return a copy of the archive that a word means (FILE.a, -lNAME, -l:FILE), or the word."""
        names = [word[3:]] if word.startswith("-l:") else [f"lib{word[2:]}.so", f"lib{word[2:]}.a"]
        files = [folder / name for folder in folders for name in names] if word.startswith("-l") else [Path(word)]
        path = next(filter(Path.is_file, files), None)
        if path is None or not self._is_ours(path, ".a"):
            return word
        if path not in self.copies:
            self.copies[path] = self.folder / str(len(self.copies)) / path.name  # `--exclude-libs` may have its name
            self.copies[path].parent.mkdir()
            self._copy(path, self.copies[path])
        return str(self.copies[path])

    def _copy(self, archive: Path, copy: Path) -> None:
        """Copy an archive with its members in this link's order."""
        content = archive.read_bytes()
        if content.startswith(_THIN):  # it names files
            names = subprocess.run(["ar", "t", archive], capture_output=True, text=True, check=True).stdout
            files = [str(Path(name).absolute()) for name in names.splitlines()]
            subprocess.run(["ar", "qcT", copy, *self._shuffle(files)], check=True)
        else:
            long_names, members = _split(content)
            copy.write_bytes(b"".join([_ARCHIVE, long_names, *self._shuffle(members)]))
            subprocess.run(["ranlib", copy], check=True)


def _split(content: bytes) -> tuple[bytes, list[bytes]]:
    """Return an archive's table of long names, and its members; its table of symbols is made anew."""
    long_names, members, start = b"", [], len(_ARCHIVE)
    while start < len(content):
        header = content[start : start + _HEADER]
        length = _HEADER + int(header[_SIZE])
        member, name = content[start : start + length].ljust(length + length % 2, b"\n"), header[_NAME].rstrip()
        long_names = member if name == _LONG_NAMES else long_names
        members += [] if name in (_LONG_NAMES, *_SYMBOLS) else [member]
        start += length + length % 2
    return long_names, members


def main(linker: str, number: int, log: Path, words: Sequence[str]) -> int:
    """Link, and add to the log how much changed places; return the linker's exit status."""
    with tempfile.TemporaryDirectory(prefix="link-") as folder:
        link = _Link(number, log.parent.resolve(), Path(folder))
        status = subprocess.run([linker, *link.reorder(words)], check=False).returncode
    output = next((word for option, word in pairwise(words) if option == "-o"), "a.out")
    if link.moved:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"relinked {Path(output).name}: {link.moved} objects and members of archives\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]))
