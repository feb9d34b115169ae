"""mysqlclient for a bench: as it is installed, else compiled into a folder of the bench's own; no root is needed.

Debian's header files come from its package, unpacked beside it, where `pkg-config` finds none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

HEADERS = ("libmariadb-dev", "libmariadb3")
WAYS = ("libmariadb", "mysqlclient")  # as pkg-config calls the library


def installed(folder: Path) -> Path | None:
    """The folder for PYTHONPATH, None where Python has it anyhow."""
    if find_spec("MySQLdb"):
        return None
    target = folder / "mysqlclient"
    environment = {**os.environ, **({} if _has_headers() else _fetched(folder / "headers"))}
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir"]  # a cached wheel has another rpath
    argv = [*pip, "--no-deps", "--target", str(target), "mysqlclient"]
    if subprocess.run(argv, env=environment, stdout=sys.stderr, check=False).returncode:
        sys.exit("mysqlclient cannot be compiled: install libmariadb-dev and python3-dev")
    return target


def _has_headers() -> bool:
    argv = ["pkg-config", "--exists"]
    return any(subprocess.run([*argv, name], check=False).returncode == 0 for name in WAYS)


def _fetched(folder: Path) -> Mapping[str, str]:
    """What mysqlclient's build reads, for header files out of Debian's packages."""
    folder.mkdir()
    subprocess.run(["apt-get", "download", *HEADERS], cwd=folder, check=True, stdout=sys.stderr)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "--extract", package, folder], check=True)
    library = next(folder.glob("usr/lib/*/libmariadb.so")).parent
    link = f"-L{library} -lmariadb -Wl,-rpath,{library}"
    return {"MYSQLCLIENT_CFLAGS": f"-I{folder / 'usr/include/mariadb'}", "MYSQLCLIENT_LDFLAGS": link}
