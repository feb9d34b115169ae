"""What holds builds still: the lock file beside a spec, and the content of patches."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from compiler.language import witness
from compiler.language.load import load
from compiler.language.nodes import Map, Text
from compiler.language.problem import Problems, nearest


def path(spec: str) -> Path:
    return Path(spec).with_suffix(".lock.yaml")


def read(spec: str, builds: Sequence[str], problems: Problems) -> dict[str, str]:
    """Build name -> its pin: a commit, a checksum."""
    file = path(spec)
    if not file.is_file():
        witness.saw(str(file), None)
        return {}
    loaded = load(str(file), problems)
    listed = loaded.get("builds") if loaded is not None else None
    pins: dict[str, str] = {}
    for name, pin in listed.items() if isinstance(listed, Map) else ():
        if isinstance(pin, Text):
            pins[name] = str(pin)
        if name not in builds and isinstance(listed, Map):
            message = f"the spec has no build `{name}`"
            problems.warn("lock-unused", listed.at[name], message, nearest(name, builds), len(name))
    return pins


def patches(listed: Sequence[Text], problems: Problems) -> str:
    """A digest of their contents; paths are relative to the file that names them."""
    digest = hashlib.sha256()
    for patch in listed:
        file = Path(patch.where.file).parent / patch
        try:
            content = file.read_bytes()
            witness.saw(str(file), content)
            digest.update(hashlib.sha256(content).digest())
        except OSError as error:
            message = f"the patch `{file}` cannot be read: {error.strerror}"
            problems.add("file-not-found", patch.where, message, width=len(patch))
    return digest.hexdigest() if listed else ""
