"""Runs pip and lets it start nothing: to get a source archive, pip would run that archive's own code for its metadata.

A script of its own: `inert.py KEPT WORD…`. pip fetches and checks the archive, then wants to start a program; at that
moment the archive is kept and pip ends. TMPDIR is a folder for this run alone, where pip puts what it fetches.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from pathlib import Path

_STARTS = (
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "pty.spawn",
)
_ARCHIVES = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")


def main(kept: str, *arguments: str) -> None:
    def refuse(event: str, _: tuple[object, ...]) -> None:
        if event in _STARTS:
            if keep(Path(os.environ["TMPDIR"]), Path(kept)):
                os._exit(0)
            raise PermissionError(f"{event}: no program is started here")

    sys.addaudithook(refuse)
    del sys.path[0]  # the modules beside this script are not pip's
    sys.argv = ["pip", *arguments]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


def keep(fetched: Path, kept: Path) -> bool:
    """pip gives each archive a folder of its own; deeper ones are parts of what was unpacked."""
    archives = [path for path in fetched.glob("*/*") if path.is_file() and path.name.endswith(_ARCHIVES)]
    for archive in archives:
        shutil.move(archive, kept / archive.name)
    return bool(archives)


if __name__ == "__main__":
    main(*sys.argv[1:])
