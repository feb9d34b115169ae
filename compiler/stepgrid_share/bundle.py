"""Bundles: archives that begin with a manifest of checksums, and the signatures beside them.

Results and builds move from one checkout to another as bundles: `export.json`, then a folder with the content. Nothing
is trusted before all of it is what the manifest says."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import stat
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, TypeAlias, TypeVar, cast

import msgspec

from stepgrid.build.archive import reading, unpack
from stepgrid.build.error import BuildError
from stepgrid.host.files import replacing, sha256
from stepgrid.language.site import current_site
from stepgrid.model.records import parse_record
from stepgrid.store.store import Store

Contents: TypeAlias = Mapping[str, tuple[Path, Path]]  # name → the folder that links must not leave, and the path

MANIFEST = "export.json"
SUFFIXES = (".tar.gz", ".tar.zst")
LARGEST_MANIFEST = 256 << 20  # bytes
SIGNATURE_SUFFIX = ".sig"
_SIGNATURE_NAMESPACE = "stepgrid"  # a signature for another purpose does not count
_SIGNATURE_SECONDS = 60


class FileEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A regular file, or a link that stays in its folder."""

    sha256: str | None = None
    bytes: Annotated[int, msgspec.Meta(ge=0, lt=1 << 50)] | None = None
    executable: bool | None = None
    link: str | None = None


class Manifest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Description of a bundle: of a build, or of results."""

    format: int
    files: dict[str, FileEntry] = {}
    created: str = msgspec.field(name="made", default="")
    kind: str = ""  # of content: `results`
    id: str = ""  # of a build
    machine: str = ""  # that a build runs on
    plan: str = ""  # of results: its digest
    spec: str = ""
    title: str = ""
    results: dict[str, list[str]] = {}  # stage -> times
    skipped: list[str] = []  # files that are neither regular ones nor links within their folder


_Record = TypeVar("_Record")


def check_name(file: Path) -> None:
    if not file.name.endswith(SUFFIXES):
        raise BuildError(f"{file} must end with {' or '.join(SUFFIXES)}: that says how it is compressed")


def write_bundle(file: Path, manifest: Manifest, folder: str, contents: Contents) -> Manifest:
    """Write the manifest with checksums of the contents, then the contents below `folder`; return the manifest."""
    entries = {name: describe_file(*paths) for name, paths in contents.items()}
    manifest = msgspec.structs.replace(manifest, files=entries)
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"

    def anonymous(header: tarfile.TarInfo) -> tarfile.TarInfo:
        header.uid = header.gid = 0
        header.uname = header.gname = ""
        return header

    with (
        replacing(file) as new,
        _compressed(new, file.name.endswith(".zst")) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        header = tarfile.TarInfo(MANIFEST)
        header.size = len(text)
        archive.addfile(header, io.BytesIO(text))
        for name, (_, path) in contents.items():
            archive.add(path, f"{folder}/{name}", recursive=False, filter=anonymous)
    return manifest


@contextmanager
def _compressed(file: Path, zstd: bool) -> Iterator[IO[bytes]]:
    with file.open("wb") as raw:
        if not zstd:
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
                yield cast(IO[bytes], stream)
            return
        if shutil.which("zstd") is None:
            raise BuildError("there is no zstd on PATH; install zstd, or export to a .tar.gz")
        with subprocess.Popen(["zstd", "--quiet", "-T0", "-"], stdin=subprocess.PIPE, stdout=raw) as packer:
            assert packer.stdin is not None
            yield packer.stdin
            packer.stdin.close()
            if packer.wait():
                raise BuildError(f"zstd ended with status {packer.returncode}")


def read_manifest(file: Path, content: str) -> Manifest:
    """Read what the file says it is, of which nothing is verified. `content`: result or build, for messages."""
    with reading(file) as entries:
        first = next(entries, None)
        if first is None or first.name != MANIFEST or first.content is None or first.size > LARGEST_MANIFEST:
            raise BuildError(f"{file} is no exported {content}: it does not begin with {MANIFEST}")
        return parse_content(first.content.read(), file, content, Manifest)


def parse_content(text: bytes, file: Path, content: str, kind: type[_Record]) -> _Record:
    try:
        return parse_record(text, kind)
    except ValueError:
        raise BuildError(f"{file} is no exported {content}: a record in it cannot be read") from None


@contextmanager
def unpacked(store: Store, file: Path, manifest: Manifest, folder: str, limit: int | None = None) -> Iterator[Path]:
    """Unpack a bundle, and give its content while it lasts, once all of it is what the manifest says."""
    with store.staging("import") as staged:
        unpack(file, staged / "bundle", limit=limit)
        content = staged / "bundle" / folder
        if {path.name for path in content.parent.iterdir()} != {MANIFEST, folder} or not content.is_dir():
            raise BuildError(f"{file} is not imported: beside its manifest it holds more than {folder}/, or not that")
        if parse_content((content.parent / MANIFEST).read_bytes(), file, "bundle", Manifest) != manifest:
            raise BuildError(f"{file} changed while it was read, or holds two manifests")
        files = {str(path.relative_to(content)): describe_file(content, path) for path in list_files(content)}
        if fault := _difference(manifest.files, files):
            raise BuildError(f"{file} is not imported: {fault}")
        yield content


# Files of a folder, as manifests describe them: sha256, bytes and executable; or link.


def list_files(folder: Path) -> list[Path]:
    """List everything that is no folder; links to folders, too."""
    paths = []
    for parent, folders, names in os.walk(folder):
        links = (name for name in folders if Path(parent, name).is_symlink())
        paths += [Path(parent, name) for name in (*names, *links)]
    return sorted(paths)


def describe_file(folder: Path, path: Path) -> FileEntry:
    """Describe a regular file, or a link that stays in the folder; a BuildError for others, which cannot be moved."""
    if path.is_symlink():
        target = os.readlink(path)  # noqa: PTH115 - as it is written
        root = os.path.realpath(folder)
        if target.startswith("/") or os.path.commonpath((root, os.path.realpath(path))) != root:
            raise BuildError(f"{path} is a link out of its folder, to {target}: it cannot be moved")
        return FileEntry(link=target)
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise BuildError(f"{path} is neither a file nor a link: it cannot be moved")
    return FileEntry(sha256(path), status.st_size, bool(status.st_mode & stat.S_IXUSR))


def is_movable(folder: Path, path: Path) -> bool:
    if not path.is_symlink():
        return stat.S_ISREG(path.lstat().st_mode)
    try:
        return bool(describe_file(folder, path))
    except BuildError:
        return False


def _difference(expected: Mapping[str, FileEntry], files: Mapping[str, FileEntry]) -> str | None:
    """Describe the first file that is not what it was."""
    for name in sorted(expected.keys() | files.keys()):
        if name not in files:
            return f"its file {name} is missing"
        if name not in expected:
            return f"it holds a file that no checksum is for, {name}"
        if expected[name] != files[name]:
            return f"its file {name} is not what was exported: the checksum differs"
    return None


# Signatures: by ssh-keygen and a key of ssh (man ssh-keygen: -Y sign, -Y verify).


def sign(file: Path, key: Path) -> Path:
    """Sign a file. `key`: a private key, or the public one of an agent's."""
    signature = signature_file(file)
    signature.unlink(missing_ok=True)  # ssh-keygen would ask
    process = _run_ssh_keygen(["sign", "-f", str(key), "-n", _SIGNATURE_NAMESPACE, str(file)])
    if process.returncode or not signature.is_file():
        lines = (process.stderr or process.stdout).strip().splitlines()
        reason = lines[-1] if lines else f"ssh-keygen ended with status {process.returncode}"
        raise BuildError(f"{file} is written, and not signed: {reason}")
    return signature


def check_signature(file: Path) -> str | None:
    """Return who signed a file, where the site file names `signers`; a BuildError where none of them did."""
    if not (signers := current_site().signers):
        return None
    name = find_signer(file, signers)
    words = ["verify", "-f", signers, "-I", name, "-n", _SIGNATURE_NAMESPACE, "-s", str(signature_file(file))]
    if _run_ssh_keygen(words, file).returncode:
        raise BuildError(f"{file} is not imported: it is not what {name} signed")
    return name


def find_signer(file: Path, signers: str) -> str:
    """Return whose signature stands beside a file, which may not be there yet: its content is not verified."""
    signature = signature_file(file)
    if not signature.is_file():
        raise BuildError(f"{file} is not imported: there is no {signature.name}, and the site file names `signers`")
    process = _run_ssh_keygen(["find-principals", "-s", str(signature), "-f", signers])
    name = process.stdout.strip().partition("\n")[0]
    if process.returncode or not name:
        raise BuildError(f"{file} is not imported: {signature.name} is of none of the `signers` of the site file")
    return name


def signature_file(file: Path) -> Path:
    return file.with_name(f"{file.name}{SIGNATURE_SUFFIX}")


def _run_ssh_keygen(words: list[str], file: Path = Path(os.devnull)) -> subprocess.CompletedProcess[str]:
    try:
        with file.open("rb") as content:
            return subprocess.run(
                ["ssh-keygen", "-Y", *words],
                stdin=content,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SIGNATURE_SECONDS,
                check=False,
            )
    except FileNotFoundError:
        raise BuildError("there is no ssh-keygen on PATH; install openssh-client") from None
    except subprocess.TimeoutExpired:
        seconds = _SIGNATURE_SECONDS
        raise BuildError(f"ssh-keygen did not end within {seconds} s: does the key ask for a passphrase?") from None
