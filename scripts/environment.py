"""Makes .venv from the hashed locks; needs nothing but Python: without ensurepip, pip comes from Debian's package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
WHEELS = Path("usr/share/python-wheels")


def main() -> int:
    say(f"making {VENV.name} with Python {sys.version.split()[0]}, half a minute or so")
    try:
        if not works():
            make()
        install("--require-hashes", "-r", str(ROOT / "requirements-build.lock"))
        install("--require-hashes", "--no-build-isolation", "-r", str(ROOT / "requirements.lock"))
        for package in (ROOT, ROOT / "importers"):
            install("--no-build-isolation", "--no-deps", "--editable", str(package))
        compile_modules()
    except subprocess.CalledProcessError as error:
        say(f"failed: {' '.join(map(str, error.cmd[:6]))} … (exit status {error.returncode}); see above")
        return 1
    return 0


def works() -> bool:
    """Whether there is an environment that can be brought up to date: killed half-way, there is none."""
    return PYTHON.exists() and quiet(str(PYTHON), "-m", "pip", "--version")


def make() -> None:
    shutil.rmtree(VENV, ignore_errors=True)
    if has_ensurepip():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        return
    say("this Python has no ensurepip: taking pip from Debian's package python3-pip-whl")
    with tempfile.TemporaryDirectory() as temporary:
        wheel = find_pip(Path("/")) or fetch_pip(Path(temporary))
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(VENV)], check=True)
        install("--no-index", str(wheel), PYTHONPATH=str(wheel))


def has_ensurepip() -> bool:
    return quiet(sys.executable, "-c", "import venv, ensurepip; ensurepip.version()")


def find_pip(prefix: Path) -> Path | None:
    return next(iter(sorted((prefix / WHEELS).glob("pip-*.whl"))), None)


def fetch_pip(folder: Path) -> Path:
    """With apt in a tree of its own, so that no root is needed; apt checks the signature."""
    sys.path.insert(0, str(ROOT / "compiler"))
    from stepgrid.build.apt.bootstrap import fetch
    from stepgrid.build.error import BuildError

    try:
        wheel = find_pip(fetch("python3-pip-whl", folder))
    except BuildError as error:
        raise SystemExit(f"setup: {error}\n{ADVICE}") from None
    if wheel is None:
        raise SystemExit(f"setup: Debian's package python3-pip-whl holds no pip.\n{ADVICE}")
    return wheel


ADVICE = (
    "Install the package python3-venv of your distribution (or any Python 3.11 to 3.13 with ensurepip), then again."
)


def install(*arguments: str, **env: str) -> None:
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--use-pep517", *arguments]
    subprocess.run(pip, check=True, cwd=ROOT, env={**os.environ, **env}, stdin=subprocess.DEVNULL)


def compile_modules() -> None:
    """Else each process compiles them again, where PYTHONDONTWRITEBYTECODE keeps Python from writing."""
    quiet(str(PYTHON), "-m", "compileall", "-q", str(ROOT / "compiler"), str(ROOT / "importers"))


def quiet(*argv: str) -> bool:
    return subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
