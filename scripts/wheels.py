"""Packages of the lock file that have no wheel for a machine and a Python: `python -m scripts.wheels [GROUP ...]`.

`make publishing` installs uv, which asks the registry. Without groups it is what a user installs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

ENVIRONMENT = Path(__file__).with_name("environment.py")
MACHINES = ("x86_64", "aarch64")
PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
GLIBC = range(17, 37)  # Debian 12 has 2.36


def main(groups: list[str]) -> None:
    packages = resolved(groups or ["main"])
    targets = [(machine, python) for machine in MACHINES for python in PYTHONS]
    print("| package |", *(f"{machine} {major}.{minor} |" for machine, (major, minor) in targets))
    print("|---|" + "---|" * len(targets))
    count = 0
    for package in packages:
        cells = [cell(package, machine, python) for machine, python in targets]
        if "source" in cells:
            count += 1
            print(f"| {package['name']} {package['version']} |", *(f"{text} |" for text in cells))
    print(f"\n{count} of {len(packages)} packages are built from source somewhere.")


def resolved(groups: list[str]) -> list[dict[str, Any]]:
    """The files of each package, as uv lists them for a PEP 751 lock."""
    with tempfile.TemporaryDirectory() as folder:
        part, files = Path(folder, "part.txt"), Path(folder, "pylock.toml")
        lock = subprocess.run([sys.executable, ENVIRONMENT, "--print", *groups], check=True, capture_output=True)
        part.write_bytes(lock.stdout)
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "compile", "--quiet", "--universal", "--no-deps"]
        argv = [*uv, "--python-version", "3.11", "--format", "pylock.toml", "--output-file", str(files), str(part)]
        subprocess.run(argv, check=True)
        packages: list[dict[str, Any]] = tomllib.loads(files.read_text(encoding="utf-8"))["packages"]
    return packages


def cell(package: dict[str, Any], machine: str, python: tuple[int, int]) -> str:
    version = f"{python[0]}.{python[1]}"
    names = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": machine, "os_name": "posix"}
    names |= {"python_version": version, "python_full_version": f"{version}.0"}
    if "marker" in package and not Marker(package["marker"]).evaluate(names):
        return "not needed"
    fitting = {*tags(machine, python)}
    wheels = (wheel.get("name") or wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", ()))
    return "wheel" if any(parse_wheel_filename(name)[3] & fitting for name in wheels) else "source"


def tags(machine: str, python: tuple[int, int]) -> Iterator[Tag]:
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in GLIBC]
    platforms += [f"manylinux2014_{machine}", f"linux_{machine}"]
    yield from cpython_tags(python, platforms=platforms)
    yield from compatible_tags(python, platforms=platforms)


if __name__ == "__main__":
    main(sys.argv[1:])
