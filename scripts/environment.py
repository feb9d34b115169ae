"""Makes .venv from requirements.lock; needs nothing but Python: without ensurepip, pip comes from Debian's package.

`environment.py GROUP [OPTION OF PIP ...]` adds a dependency group of pyproject.toml, `environment.py --print GROUP ...`
prints the part of the lock file that groups need. The group `main` is what stepgrid itself needs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
MARK = ".made-by-stepgrid"  # in .venv: somebody else's is neither removed nor filled
LOCK = ROOT / "requirements.lock"
WHEELS = Path("usr/share/python-wheels")
EACH_PACKAGE = re.compile(r"(?:Collecting|Ignoring|Requirement already satisfied:) ([\w.-]+)")
DOWNLOAD = re.compile(r"Downloading \S*?([\w.]+)-[\w.+]+-\S+ \((.+)\)")
PACKAGE = re.compile(r"^(\w[\w.-]*)\S*==.*\n(?: .*\n)*", re.MULTILINE)
USER = re.compile(r"^    #(?: via|  ) (\S.*)$", re.MULTILINE)  # below each package uv notes what needs it
SECONDS = 5.0  # between two lines where there is no terminal


def main(words: list[str]) -> int:
    if words[:1] == ["--print"]:
        print(locked(LOCK.read_text(encoding="utf-8"), words[1:]), end="")
        return 0
    began = time.monotonic()
    try:
        if words:
            install_groups(words[:1], *words[1:])
            return 0
        if not is_ours(VENV):
            say(f"{VENV} is there, and `make setup` did not make it: move it away")
            return 1
        say(f"making {VENV.name} with Python {sys.version.split()[0]}, half a minute or so")
        if not works():
            make()
        install_groups(["build"])
        install_groups(["main", "dev"], "--no-build-isolation")
        for package in (ROOT, ROOT / "packages" / "importers"):
            install("--no-build-isolation", "--no-deps", "--editable", str(package))
        compile_modules()
    except subprocess.CalledProcessError as error:
        say(f"failed: {' '.join(map(str, error.cmd[:6]))} … (exit status {error.returncode}); see above")
        return 1
    say(f"done in {time.monotonic() - began:.0f} s")
    return 0


def is_ours(folder: Path) -> bool:
    """Whether there is none, or one with our mark; earlier ones have the command, which comes last."""
    if folder.is_symlink() or not folder.is_dir():
        return not os.path.lexists(folder)
    return (folder / MARK).exists() or (folder / "bin" / "stepgrid").exists() or not any(folder.iterdir())


def works() -> bool:
    """Whether there is an environment that can be brought up to date: killed half-way, there is none."""
    return PYTHON.exists() and quiet(str(PYTHON), "-m", "pip", "--version")


def make() -> None:
    shutil.rmtree(VENV, ignore_errors=True)
    VENV.mkdir()
    (VENV / MARK).touch()
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
    from stepgrid.build.apt import fetch_package
    from stepgrid.build.error import BuildError

    try:
        wheel = find_pip(fetch_package("python3-pip-whl", folder))
    except BuildError as error:
        raise SystemExit(f"setup: {error}\n{ADVICE}") from None
    if wheel is None:
        raise SystemExit(f"setup: Debian's package python3-pip-whl holds no pip.\n{ADVICE}")
    return wheel


def install_groups(groups: Iterable[str], *options: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".lock", encoding="utf-8") as part:
        part.write(locked(LOCK.read_text(encoding="utf-8"), groups))
        part.flush()
        install("--require-hashes", *options, "-r", part.name)


def locked(lock: str, groups: Iterable[str]) -> str:
    """The packages of these groups: pip would need all of a lock file that it is given, or none of its checksums."""
    blocks = [(match[1], match[0], {*USER.findall(match[0])}) for match in PACKAGE.finditer(lock)]
    users = {f"stepgrid (pyproject.toml:{group})".replace(":main", "") for group in groups}
    count = 0
    while count < len(users):
        count = len(users)
        users |= {name for name, _, needed_by in blocks if needed_by & users}
    return "".join(text for _, text, needed_by in blocks if needed_by & users)


ADVICE = (
    "Install the package python3-venv of your distribution (or any Python 3.11 to 3.13 with ensurepip), then again."
)


def install(*arguments: str, **env: str) -> None:
    """What pip says is shown in short; all of it where it fails."""
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar=off", "--use-pep517"]
    argv, lines = [*pip, *arguments], list[str]()
    with subprocess.Popen(
        argv, cwd=ROOT, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as process:  # fmt: skip
        show(progress(kept(process.stdout or (), lines), packages(arguments)))
    if process.returncode:
        print("".join(lines[-40:]), end="", file=sys.stderr)
        raise subprocess.CalledProcessError(process.returncode, argv)


def packages(arguments: Iterable[str]) -> int:
    """How many packages the lock file names; 0 without one."""
    locks = [Path(word) for word in arguments if word.endswith(".lock")]
    return sum(len(re.findall("^[^ #]+==", lock.read_text(encoding="utf-8"), re.MULTILINE)) for lock in locks)


def kept(lines: Iterable[str], into: list[str]) -> Iterator[str]:
    for line in lines:
        into.append(line)
        yield line


def progress(lines: Iterable[str], total: int) -> Iterator[str]:
    """How far pip is, at each package and download."""
    count, name = 0, ""
    for line in lines:
        if each := EACH_PACKAGE.match(line):
            count, name = count + 1, each[1]
        elif download := DOWNLOAD.search(line):
            name = f"{download[1]} ({download[2]})"
        elif not line.startswith("Installing collected"):
            continue
        else:
            name = "installing them"
        if total:
            yield f"{min(count, total)} of {total} packages: {name}"


def show(texts: Iterable[str]) -> None:
    """On a terminal one line that is written over; elsewhere a line now and then."""
    live, last = sys.stderr.isatty(), time.monotonic()
    for text in texts:
        if live:
            print(f"\r\x1b[Ksetup: {text[:70]}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - last > SECONDS:
            last = time.monotonic()
            say(text)
    if live:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def compile_modules() -> None:
    """Else each process compiles them again, where PYTHONDONTWRITEBYTECODE keeps Python from writing."""
    quiet(str(PYTHON), "-m", "compileall", "-q", str(ROOT / "compiler"), str(ROOT / "packages"))


def quiet(*argv: str) -> bool:
    return subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
