"""What mysqld, mariadbd and their clients look for in the prefix that they lie in, and what packages of them need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stepgrid.build.recipe import InstalledPrograms, SearchFolder


def _files(base: Path, libraries: Path) -> Iterator[SearchFolder]:
    yield SearchFolder("basedir", base, "MY_BASEDIR_VERSION")
    for file in sorted(base.glob("share/**/*_system_tables.sql"))[:1]:
        yield SearchFolder("system tables", file.parent)  # the SQL that a new data directory is made with


def client_plugins(base: Path, libraries: Path) -> Iterator[SearchFolder]:
    """Of MariaDB's client library, which other programs have, too."""
    for folder in sorted(libraries.glob("lib/*/libmariadb*/plugin"))[:1]:
        yield SearchFolder("client plugins", folder, "MARIADB_PLUGIN_DIR")


BY_ENGINE = {
    "mysql": InstalledPrograms(
        clients=("mysql", "mysqladmin"),
        # its published binaries were linked with a libaio that newer distributions no longer have by this name
        libraries={"debian": ["libaio1", "libnuma1", "libcrypt1", "libstdc++6", "libgcc-s1"], "suite": "bookworm"},
        places=_files,
    ),
    "mariadb": InstalledPrograms(
        clients=("mariadb", "mariadb-admin"),
        older_names={"mariadbd": "mysqld", "mariadb": "mysql", "mariadb-admin": "mysqladmin"},
        places=lambda base, libraries: (*_files(base, libraries), *client_plugins(base, libraries)),
    ),
}
