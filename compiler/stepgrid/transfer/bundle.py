"""What moves from one checkout to another: an archive that begins with a manifest, with a checksum of every file."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from stepgrid.build.archive import reading
from stepgrid.build.error import BuildError
from stepgrid.host.files import replacing

MANIFEST = "export.json"
SUFFIXES = (".tar.gz", ".tar.zst")
MOST = 256 << 20  # bytes of a manifest


def check_name(file: Path) -> None:
    if not file.name.endswith(SUFFIXES):
        raise BuildError(f"{file} must end with {' or '.join(SUFFIXES)}: that says how it is compressed")


def write(file: Path, said: Mapping[str, Any], contents: Mapping[str, Path]) -> None:
    """`said`: the manifest. `contents`: name in the archive -> the file, or link."""
    text = (json.dumps(said, indent=1, sort_keys=True) + "\n").encode()
    with replacing(file) as new, _compressed(new, file.name.endswith(".zst")) as out:
        _write(out, text, contents)


def _write(out: IO[bytes], manifest: bytes, contents: Mapping[str, Path]) -> None:
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(manifest)
        tar.addfile(info, io.BytesIO(manifest))
        for name, path in contents.items():
            tar.add(path, name, recursive=False, filter=_anonymous)


def head(file: Path, what: str) -> dict[str, Any]:
    """The manifest alone: what the file says it is. Nothing of it is verified."""
    with reading(file) as entries:
        first = next(entries, None)
        if first is None or first.name != MANIFEST or first.content is None or first.size > MOST:
            raise BuildError(f"{file} is no exported {what}: it does not begin with {MANIFEST}")
        return record(first.content.read(), file, what)


def record(text: bytes, file: Path, what: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BuildError(f"{file} is no exported {what}: a record in it cannot be read")
    return found


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Who made it here is nobody there."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


@contextmanager
def _compressed(file: Path, zstd: bool) -> Iterator[IO[bytes]]:
    with file.open("wb") as raw:
        if not zstd:
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as out:
                yield cast(IO[bytes], out)
            return
        if shutil.which("zstd") is None:
            raise BuildError("there is no zstd on PATH; install zstd, or export to a .tar.gz")
        with subprocess.Popen(["zstd", "--quiet", "-T0", "-"], stdin=subprocess.PIPE, stdout=raw) as packer:
            assert packer.stdin is not None
            yield packer.stdin
            packer.stdin.close()
            if packer.wait():
                raise BuildError(f"zstd ended with status {packer.returncode}")
