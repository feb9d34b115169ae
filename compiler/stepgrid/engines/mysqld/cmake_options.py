"""What MySQL and MariaDB are configured with: what no benchmark needs, and what would be there by chance, is left out.

An option that a release does not know is passed over by cmake.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.error import BuildError

HOME = "/stepgrid"  # it is installed below a staging folder, and told where its files are when it is started

_PACKAGES = ("libssl-dev", "libncurses-dev", "libaio-dev", "zlib1g-dev", "liblz4-dev", "libzstd-dev")
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "mysql": (*_PACKAGES, "libtirpc-dev"),
    "mariadb": (*_PACKAGES, "libpcre2-dev", "libfmt-dev"),
}
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
        INSTALL_SYSCONFDIR={HOME}/etc
        """,
}
OPTIONS: Mapping[str, Mapping[str, str]] = {
    engine: dict(pair.split("=") for pair in pairs.split()) for engine, pairs in _OPTIONS.items()
}
_BOOST = re.compile(r'SET\(BOOST_PACKAGE_NAME\s+"(boost_[\d_]+)"', re.IGNORECASE)


def boost(tree: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The variable of cmake that says where it is: MySQL from 5.7 to 8.2 wants one version, and would download it."""
    file = tree / "cmake" / "boost.cmake"
    match = _BOOST.search(file.read_text(encoding="utf-8", errors="replace")) if file.is_file() else None
    if match is None or (tree / "extra" / "boost" / match[1]).is_dir() or "WITH_BOOST" in variables:
        return {}
    if (tree / "boost" / match[1]).is_dir():
        return {"WITH_BOOST": str(tree / "boost")}
    raise BuildError(
        f"this release of MySQL is compiled with {match[1]}, which its tree does not hold: take its archive that does "
        f"(mysql-boost-VERSION.tar.gz), or unpack {match[1]} and say `flags: {{WITH_BOOST: FOLDER}}`"
    )
