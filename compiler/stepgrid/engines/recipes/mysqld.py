"""Recipe of MySQL, its forks and MariaDB: cmake and ninja; and what their installed programs need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from stepgrid.build import compilation
from stepgrid.build.compilation import COMPILERS, PREFIX, RUN_PATH, SourceRecipe, move_installed, prepare
from stepgrid.build.elf import codegen
from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import find_server_programs, make_startable
from stepgrid.build.recipe import BuiltPrograms, InstalledPrograms, Material, Order, SearchFolder

# Programs are installed below a staging folder, to this prefix, and told where their files are when they are started.
STAGED_HOME = "/stepgrid"

_COMMON_PACKAGES = ("libssl-dev", "libncurses-dev", "libaio-dev", "zlib1g-dev", "liblz4-dev", "libzstd-dev")
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "mysql": (*_COMMON_PACKAGES, "libtirpc-dev"),
    "mariadb": (*_COMMON_PACKAGES, "libpcre2-dev", "libfmt-dev"),
}
# Leave out what no benchmark needs, and what would be there by chance. cmake passes over options that a release lacks.
_OPTIONS = {
    "mysql": """
        WITH_UNIT_TESTS=OFF WITH_ROUTER=OFF WITH_MYSQLX=OFF WITH_NDB=OFF WITH_NDBCLUSTER=OFF
        WITH_GROUP_REPLICATION=OFF WITH_SYSTEMD=OFF WITH_CURL=none WITH_FIDO=none WITH_EDITLINE=bundled
        WITH_LIBEVENT=bundled WITH_ICU=bundled WITH_LZ4=bundled WITH_PROTOBUF=bundled WITH_RAPIDJSON=bundled
        WITH_ZLIB=bundled WITH_ZSTD=bundled WITH_NUMA=OFF MYSQL_MAINTAINER_MODE=OFF INSTALL_MYSQLTESTDIR=
        """,
    "mariadb": f"""
        PLUGIN_ROCKSDB=DYNAMIC PLUGIN_COLUMNSTORE=NO PLUGIN_CONNECT=NO PLUGIN_MROONGA=NO PLUGIN_OQGRAPH=NO
        PLUGIN_S3=NO PLUGIN_SPHINX=NO PLUGIN_SPIDER=NO PLUGIN_TOKUDB=NO PLUGIN_CRACKLIB_PASSWORD_CHECK=NO
        PLUGIN_AUTH_GSSAPI=NO WITH_WSREP=OFF WITH_UNIT_TESTS=OFF WITH_EMBEDDED_SERVER=OFF WITH_SYSTEMD=no
        WITH_PCRE=system WITH_LIBFMT=system WITH_ZLIB=system WITH_LIBAIO=ON WITH_MARIABACKUP=OFF WITH_NUMA=OFF
        WITH_JEMALLOC=no CONC_WITH_SSL=OPENSSL INSTALL_MYSQLTESTDIR= MYSQL_MAINTAINER_MODE=NO
        INSTALL_SYSCONFDIR={STAGED_HOME}/etc
        """,
}


class MySQLdCMake(SourceRecipe):
    name, tools = "cmake", (*COMPILERS, *compilation.CMAKE_TOOLS, "bison", "pkg-config")

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, "sql/mysqld.cc", _PACKAGES[self.engine], *self.tools)
        folder, staging, devel = order.folder / "made", order.folder / "staging", compiled.devel.folder
        options = {
            **dict(pair.split("=") for pair in _OPTIONS[self.engine].split()),
            "CMAKE_INSTALL_PREFIX": STAGED_HOME,
            "WITH_SSL": "system" if devel is None or self.engine == "mariadb" else str(devel),
            **({"OPENSSL_ROOT_DIR": str(devel)} if devel else {}),
            **({"WITH_DEBUG": "ON"} if compiled.flags.assertions else {}),
            **boost_options(compiled.tree, compiled.flags.variables),
        }
        compilation.configure_cmake(compiled, folder, options, {**compiled.search, **RUN_PATH})
        compiled.run(
            [compiled.tools["ninja"], *compiled.parallel], folder, {**compiled.devel.search(folder), **RUN_PATH}
        )
        compiled.run([compiled.tools["cmake"], "--install", str(folder)], folder, {"DESTDIR": str(staging)})
        home, engine = staging / STAGED_HOME.lstrip("/"), order.engine
        quality = codegen(find_server_programs(home, engine, "the compiled tree")[engine.programs[0]])
        configuration = compilation.cmake_settings(folder, re.compile("WITH_|CMAKE_BUILD_TYPE|PLUGIN_ROCKSDB"))
        prefix = move_installed(compiled, home, ("bin", "sbin", "lib", "lib64", "share"))
        programs = find_server_programs(prefix, engine, "the compiled tree")
        compilation.prune(order.folder, (PREFIX,))
        ready = make_startable(order, programs)
        return BuiltPrograms(
            ready.programs,
            quality={"route": "source", **quality},
            artifacts=compiled.devel.artifacts,
            facts={**compiled.tools.facts(), **configuration, **ready.facts, "system": self.name},
        )


def boost_options(tree: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Name the folder of Boost: MySQL from 5.7 to 8.2 wants one version, and would download it."""
    file = tree / "cmake" / "boost.cmake"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    match = re.search(r'SET\(BOOST_PACKAGE_NAME\s+"(boost_[\d_]+)"', text, re.IGNORECASE)
    if match is None or (tree / "extra" / "boost" / match[1]).is_dir() or "WITH_BOOST" in variables:
        return {}
    if (tree / "boost" / match[1]).is_dir():
        return {"WITH_BOOST": str(tree / "boost")}
    raise BuildError(
        f"this release of MySQL is compiled with {match[1]}, which its tree does not hold: take its archive that does "
        f"(mysql-boost-VERSION.tar.gz), or unpack {match[1]} and say `flags: {{WITH_BOOST: FOLDER}}`"
    )


def _server_folders(base: Path, libraries: Path) -> Iterator[SearchFolder]:
    yield SearchFolder("basedir", base, "MY_BASEDIR_VERSION")
    for file in sorted(base.glob("share/**/*_system_tables.sql"))[:1]:
        yield SearchFolder("system tables", file.parent)  # the SQL that a new data directory is made with


def client_plugins(base: Path, libraries: Path) -> Iterator[SearchFolder]:
    """Find the plugins of MariaDB's client library, which other programs use, too."""
    for folder in sorted(libraries.glob("lib/*/libmariadb*/plugin"))[:1]:
        yield SearchFolder("client plugins", folder, "MARIADB_PLUGIN_DIR")


INSTALLED = {
    "mysql": InstalledPrograms(
        clients=("mysql", "mysqladmin"),
        # its published binaries were linked with a libaio that newer distributions no longer have by this name
        libraries={"debian": ["libaio1", "libnuma1", "libcrypt1", "libstdc++6", "libgcc-s1"], "suite": "bookworm"},
        search_folders=_server_folders,
    ),
    "mariadb": InstalledPrograms(
        clients=("mariadb", "mariadb-admin"),
        older_names={"mariadbd": "mysqld", "mariadb": "mysql", "mariadb-admin": "mysqladmin"},
        search_folders=lambda base, libraries: (*_server_folders(base, libraries), *client_plugins(base, libraries)),
    ),
}
