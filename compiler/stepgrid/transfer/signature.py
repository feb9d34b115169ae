"""Who made a bundle: a signature beside it, by ssh-keygen and a key of ssh (man ssh-keygen: -Y sign, -Y verify)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from stepgrid.build.error import BuildError

NAMESPACE = "stepgrid"  # a signature for another purpose is none here
SUFFIX = ".sig"
_SECONDS = 60


def sign(file: Path, key: Path) -> Path:
    """`key`: a private key, or the public one of an agent's."""
    beside = _beside(file)
    beside.unlink(missing_ok=True)  # ssh-keygen would ask
    done = _run(["sign", "-f", str(key), "-n", NAMESPACE, str(file)], None)
    if done.returncode or not beside.is_file():
        raise BuildError(f"{file} is written, and not signed: {_said(done)}")
    return beside


def signer(file: Path, signers: str) -> str:
    """Whose signature stands beside a file; BuildError where it is of none of `signers` (ALLOWED SIGNERS there)."""
    name = principal(file, signers)
    done = _run(["verify", "-f", signers, "-I", name, "-n", NAMESPACE, "-s", str(_beside(file))], file)
    if done.returncode:
        raise BuildError(f"{file} is not imported: it is not what {name} signed")
    return name


def principal(file: Path, signers: str) -> str:
    """The signer that a signature beside a file is of, which may not be there yet: its content is not verified."""
    beside = _beside(file)
    if not beside.is_file():
        raise BuildError(f"{file} is not imported: there is no {beside.name}, and the site file names `signers`")
    found = _run(["find-principals", "-s", str(beside), "-f", signers], None)
    name = found.stdout.strip().partition("\n")[0]
    if found.returncode or not name:
        raise BuildError(f"{file} is not imported: {beside.name} is of none of the `signers` of the site file")
    return name


def _beside(file: Path) -> Path:
    return file.with_name(f"{file.name}{SUFFIX}")


def _run(words: list[str], given: Path | None) -> subprocess.CompletedProcess[str]:
    try:
        with (given or Path(os.devnull)).open("rb") as content:
            return subprocess.run(
                ["ssh-keygen", "-Y", *words],
                stdin=content,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
    except FileNotFoundError:
        raise BuildError("there is no ssh-keygen on PATH; install openssh-client") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"ssh-keygen did not end within {_SECONDS} s: does the key ask for a passphrase?") from None


def _said(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"ssh-keygen ended with status {done.returncode}"
