"""A finished build as one file: its folder, and a manifest before it with the checksum of every file."""

from __future__ import annotations

import gzip
import io
import json
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from compiler.build import manifest
from compiler.build.problem import BuildError
from compiler.build.programs import RECORD
from compiler.store.durable import replacing

MANIFEST, CONTENT = "export.json", "build"
FORMAT = 1
SUFFIXES = (".tar.gz", ".tar.zst")


def export(folder: Path, file: Path) -> Mapping[str, Any]:
    """Writes it; gives the manifest."""
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    if not file.name.endswith(SUFFIXES):
        raise BuildError(f"{file} must end with {' or '.join(SUFFIXES)}: that says how it is compressed")
    _refuse_fixed(record)
    said = {"format": FORMAT, "id": record["id"], "machine": platform.machine(), "files": manifest.files(folder)}
    with replacing(file) as new, _compressed(new, file.name.endswith(".zst")) as out:
        _write(out, folder, said)
    return said


def _refuse_fixed(record: Mapping[str, Any]) -> None:
    """Programs that are not in the build's folder stay where they are."""
    words = [word for argv in record["programs"].values() for word in argv]
    if found := next((word for word in words if word.startswith("/")), None):
        raise BuildError(f"{record['name']} runs {found}, which belongs to this machine: there is nothing to move")
    if "declared" not in record:
        raise BuildError(f"{record['name']} was made by a version that did not record all of it; make it again")


def _write(out: IO[bytes], folder: Path, said: Mapping[str, Any]) -> None:
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        text = (json.dumps(said, indent=1, sort_keys=True) + "\n").encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
        for name in said["files"]:
            tar.add(folder / name, f"{CONTENT}/{name}", recursive=False, filter=_anonymous)


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Who made the build here is nobody there."""
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
