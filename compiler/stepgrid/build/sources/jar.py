"""What a jar is good for here: native libraries, or an archive of programs within it."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

from stepgrid.build.error import BuildError
from stepgrid.build.fetch.archive_extraction import unpack

_ARCHIVES = (".tar.gz", ".tgz", ".txz", ".tar.xz", ".tar.bz2", ".tar.zst")
_MACHINES = {
    "x86_64": ("x86_64", "amd64", "x64"),
    "aarch64": ("aarch64", "arm64", "arm_64"),
    "ppc64le": ("ppc64le", "ppc_64", "ppc64"),
    "s390x": ("s390x",),
    "riscv64": ("riscv64",),
}
_JAVA = (".class", ".java", ".kotlin_module")


def open_jar(jar: Path, prefix: Path) -> None:
    """Unpacks what is not Java. Where it holds archives the prefix is the content of the one for this machine."""
    aside = prefix.with_name(f".{prefix.name}-of-jar")
    unpack(jar, aside)
    _drop_java(aside)
    archives = sorted(path for path in aside.rglob("*") if path.name.endswith(_ARCHIVES))
    if archives:
        # some were packed with links to where they lay on the packer's machine
        unpack(_of_this_machine(jar.name, archives), prefix, strip=True, drop_absolute_links=True)
        shutil.rmtree(aside)
    else:
        aside.rename(prefix)


def _drop_java(folder: Path) -> None:
    shutil.rmtree(folder / "META-INF", ignore_errors=True)
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            if name.endswith(_JAVA):
                Path(place, name).unlink()
        if Path(place) != folder and not any(Path(place).iterdir()):
            Path(place).rmdir()


def _of_this_machine(jar: str, archives: list[Path]) -> Path:
    machine = platform.machine()
    fitting = [path for path in archives if "linux" in path.name.lower() and _machine(path.name) in (machine, None)]
    if len(fitting) != 1:
        names = ", ".join(path.name for path in archives)
        count = "several archives" if fitting else "no archive"
        raise BuildError(f"{jar} holds {count} for Linux on {machine}; it holds: {names}")
    return fitting[0]


def _machine(name: str) -> str | None:
    """None where the name does not say it."""
    lower = name.lower()
    return next((machine for machine, names in _MACHINES.items() if any(each in lower for each in names)), None)
