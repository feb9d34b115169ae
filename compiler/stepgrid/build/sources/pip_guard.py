"""Runs pip and lets it start nothing: to get a source archive, pip would run that archive's own code for its metadata.

A script of its own: `pip_guard.py PACKAGE KEPT WORD…`. pip fetches, checks and unpacks the archive, then wants to
start a
program; at that moment the archive is copied into the folder KEPT, and pip ends.
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
    """Sees all that pip opens and starts."""

    def __init__(self, package: str, kept: str) -> None:
        self._package, self._kept = _normal(package), kept
        self._archives: list[str] = []  # of the package, that were read; those within the first come later

    def __call__(self, event: str, said: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, *_ = said
            if str(mode).startswith("r") and self._is_archive(str(path)):
                self._archives.append(str(path))
        elif event in _STARTS:
            self._refuse(event)

    def _is_archive(self, path: str) -> bool:
        return path.endswith(_ARCHIVES) and _normal(path.rpartition("/")[2]).startswith(f"{self._package}-")

    def _refuse(self, event: str) -> None:
        for archive in filter(os.path.isfile, self._archives):
            shutil.copy(archive, self._kept)
            os._exit(0)
        raise PermissionError(f"{event}: no program is started here")


def _normal(name: str) -> str:
    """Names of packages and of their files differ in these."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main(package: str, kept: str, *arguments: str) -> None:
    del sys.path[0]  # the modules beside this script are not pip's
    sys.argv = ["pip", *arguments]
    sys.addaudithook(PipGuard(package, kept))
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
