"""Runs pip and lets it start nothing: to get a source archive, pip would run that archive's own code for its metadata.

A script of its own: `inert.py KEPT WORD…`. pip fetches, checks and unpacks the archive, then wants to start a program;
at that moment the archive is copied into the folder KEPT, and pip ends.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys

_STARTS = frozenset(
    ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
)
_ARCHIVES = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")


class Guard:
    """Sees all that pip opens and starts."""

    def __init__(self, kept: str) -> None:
        self._kept, self._archive = kept, ""

    def __call__(self, event: str, said: tuple[object, ...]) -> None:
        if event == "open" and not self._archive:
            path, mode, *_ = said
            if mode == "rb" and str(path).endswith(_ARCHIVES):
                self._archive = str(path)  # the first that is read; those within it come later
        elif event in _STARTS:
            self._refuse(event)

    def _refuse(self, event: str) -> None:
        if self._archive and os.path.isfile(self._archive):  # noqa: PTH113 - its events are ours, too
            shutil.copy(self._archive, self._kept)
            os._exit(0)
        raise PermissionError(f"{event}: no program is started here")


def main(kept: str, *arguments: str) -> None:
    del sys.path[0]  # the modules beside this script are not pip's
    sys.argv = ["pip", *arguments]
    sys.addaudithook(Guard(kept))
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
