"""Recipe of MySQL, its forks and MariaDB: cmake and ninja; and what their installed programs need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.elf import codegen
from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import find_server_programs, make_startable
from stepgrid.build.recipe import (
    Artifact,
    BuiltPrograms,
    InstalledPrograms,
    Material,
    Order,
    SearchFolder,
    SourceRecipe,
    source_of,
)
from stepgrid.language.flags import read_flags
from stepgrid.language.scalars import Version
from stepgrid.language.sources import source_kind
from stepgrid.model.plan import Json, PlannedBuild
from stepgrid_databases.engines.recipes import compilation
from stepgrid_databases.engines.recipes.compilation import COMPILERS, PREFIX, RUN_PATH, move_installed, prepare

# Programs are installed below a staging folder, to this prefix, and told where their files are when they are started.
STAGED_HOME = "/stepgrid"

_COMMON_PACKAGES = (
    "libssl-dev",
    "libncurses-dev",
    "libaio-dev",
    "zlib1g-dev",
    "liblz4-dev",
    "libzstd-dev",
    "libnuma-dev",
)
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
        WITH_ZLIB=bundled WITH_ZSTD=bundled WITH_NUMA=ON MYSQL_MAINTAINER_MODE=OFF INSTALL_MYSQLTESTDIR=
        """,
    "mariadb": f"""
        PLUGIN_ROCKSDB=DYNAMIC PLUGIN_COLUMNSTORE=NO PLUGIN_CONNECT=NO PLUGIN_MROONGA=NO PLUGIN_OQGRAPH=NO
        PLUGIN_S3=NO PLUGIN_SPHINX=NO PLUGIN_SPIDER=NO PLUGIN_TOKUDB=NO PLUGIN_CRACKLIB_PASSWORD_CHECK=NO
        PLUGIN_AUTH_GSSAPI=NO WITH_WSREP=OFF WITH_UNIT_TESTS=OFF WITH_EMBEDDED_SERVER=OFF WITH_SYSTEMD=no
        WITH_PCRE=system WITH_LIBFMT=system WITH_ZLIB=system WITH_LIBAIO=ON WITH_MARIABACKUP=OFF WITH_NUMA=ON
        WITH_JEMALLOC=no CONC_WITH_SSL=OPENSSL INSTALL_MYSQLTESTDIR= MYSQL_MAINTAINER_MODE=NO
        INSTALL_SYSCONFDIR={STAGED_HOME}/etc
        """,
}


class MySQLdCMake(SourceRecipe):
    name, tools = "cmake", (*COMPILERS, *compilation.CMAKE_TOOLS, "bison", "pkg-config")

    def __init__(self, engine: str) -> None:
        self.engine = engine

    def needed_sources(self, build: PlannedBuild) -> tuple[Mapping[str, Json], ...]:
        """Name where Boost comes from; which release it is, says the tree. Archives called mysql-boost bring it."""
        is_brought = "boost" in str(build.source.get("tarball", "")) or source_kind(build.source) not in (
            "git",
            "tarball",
        )
        if self.engine != "mysql" or is_brought or "WITH_BOOST" in read_flags(build.recipe).variables:
            return ()
        return ({"tarball": _BOOST_RELEASES},) if Version("5.7") <= Version(build.version) < Version("8.3") else ()

    def make(self, order: Order, material: Material) -> BuiltPrograms:
        compiled = prepare(order, material, "sql/mysqld.cc", _PACKAGES[self.engine], *self.tools)
        folder, staging, devel = order.folder / "made", order.folder / "staging", compiled.devel.folder
        boost = find_boost(order, compiled.tree, compiled.flags.variables)
        options = {
            **dict(pair.split("=") for pair in _OPTIONS[self.engine].split()),
            "CMAKE_INSTALL_PREFIX": STAGED_HOME,
            "WITH_SSL": "system" if devel is None or self.engine == "mariadb" else str(devel),
            **({"OPENSSL_ROOT_DIR": str(devel)} if devel else {}),
            **({"WITH_DEBUG": "ON"} if compiled.flags.assertions else {}),
            **({"WITH_BOOST": str(boost.folder)} if boost else {}),
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
        compilation.prune(order, (PREFIX,))
        ready = make_startable(order, programs)
        return BuiltPrograms(
            ready.programs,
            quality={"route": "source", **quality},
            artifacts=(*compiled.devel.artifacts, *(boost.artifacts if boost else ())),
            facts={**compiled.tools.facts(), **configuration, **ready.facts, "system": self.name},
        )


# Boost: MySQL from 5.7 to 8.2 is compiled with one version each, which cmake/boost.cmake names

_BOOST_RELEASES = "https://archives.boost.io/release/"
_BOOST: Mapping[str, str] = {  # SHA-256 of the archives
    "1.59.0": "727a932322d94287b62abb1bd2d41723eec4356a7728909e38adb65ca25241ca",  # 5.7.9 to 5.7.44
    "1.65.0": "ea26712742e2fb079c2a566a31f3266973b76e38222b9f88b387e3c8b2f9902c",
    "1.66.0": "5721818253e6a0989583192f96782c4a98eb6204965316df9f5ad75819225ca9",
    "1.67.0": "2684c972994ee57fc5632e03bf044746f6eb45d4920c343937a465fd67a5adba",
    "1.68.0": "7f6130bc3cf65f56a618888ce9d5ea704fa10b462be126ad053e80e553d6d8b7",
    "1.69.0": "8f32d4617390d1c2d16f26a27ab60d97807b35440d45891fa340fc2648b04406",
    "1.70.0": "430ae8354789de4fd19ee52f3b1f739e1fba576f0aded0897c3c2bc00fb38778",
    "1.72.0": "59c9b274bc451cf91a9ba1dd2c7fdcaf5d60b1b3aa83f2c9fa143417cc660722",
    "1.73.0": "4eb3b8d442b426dc35346235c8733b5ae35ba431690e38c6a8263dce9fcbb402",
    "1.77.0": "fc9f85fc030e233142908241af7a846e60630aa7388de9a5fafb1f3a26840854",  # 8.0.30 to 8.2
}


class Boost(NamedTuple):
    folder: Path
    artifacts: tuple[Artifact, ...] = ()


def find_boost(order: Order, tree: Path, variables: Mapping[str, str]) -> Boost | None:
    """Find the Boost that a tree brings, or fetch what it names; None where it needs none or the spec has one."""
    file = tree / "cmake" / "boost.cmake"
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    match = re.search(r'SET\(BOOST_PACKAGE_NAME\s+"(boost_[\d_]+)"', text, re.IGNORECASE)
    if match is None or (tree / "extra" / "boost" / match[1]).is_dir() or "WITH_BOOST" in variables:
        return None
    if (tree / "boost" / match[1]).is_dir():
        return Boost(tree / "boost")
    version = match[1].removeprefix("boost_").replace("_", ".")
    if version not in _BOOST:
        raise BuildError(
            f"this release of MySQL is compiled with {match[1]}, which its tree does not hold: unpack {match[1]} and "
            "say `flags: {WITH_BOOST: FOLDER}`"
        )
    source = {"tarball": f"{_BOOST_RELEASES}{version}/source/{match[1]}.tar.bz2", "sha256": _BOOST[version]}
    folder = order.folder / "boost"
    folder.mkdir()
    material = source_of(source).fetch(source, folder, order)
    assert material.tree is not None
    return Boost(material.tree, material.artifacts)


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
        clients=("mariadb", "mariadb-admin", "mariadb-dump", "mariadb-backup"),
        older_names={
            "mariadbd": "mysqld",
            "mariadb": "mysql",
            "mariadb-admin": "mysqladmin",
            "mariadb-dump": "mysqldump",
            "mariadb-backup": "mariabackup",
        },
        search_folders=lambda base, libraries: (*_server_folders(base, libraries), *client_plugins(base, libraries)),
    ),
}
