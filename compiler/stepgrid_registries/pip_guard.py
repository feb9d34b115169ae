"""Run pip and let it start nothing: to get a source archive, pip would run that archive's own code for its metadata.

A script of its own: `pip_guard.py PACKAGE FOLDER WORD…`. pip fetches, checks and unpacks the archive, then wants to
start a program; at that moment the archive is copied into FOLDER, and pip ends.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import sys

_STARTS = frozenset(
    ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
)
_ARCHIVES = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")


class PipGuard:
    """An audit hook that sees all that pip opens and starts."""

    def __init__(self, package: str, folder: str) -> None:
        self._package, self._folder = _normalize(package), folder
        self._archives: list[str] = []  # of the package, that were read; those within the first come later

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, *_ = map(str, arguments)
            name = _normalize(path.rpartition("/")[2])
            if mode.startswith("r") and path.endswith(_ARCHIVES) and name.startswith(f"{self._package}-"):
                self._archives.append(path)
        elif event in _STARTS:
            for archive in filter(os.path.isfile, self._archives):
                shutil.copy(archive, self._folder)
                os._exit(0)
            raise PermissionError(f"{event}: no program is started here")


def _normalize(name: str) -> str:
    """Remove differences between the names of packages and of their files."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main(package: str, folder: str, *arguments: str) -> None:
    del sys.path[0]  # the modules beside this script are not pip's
    sys.argv = ["pip", *arguments]
    sys.addaudithook(PipGuard(package, folder))
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
