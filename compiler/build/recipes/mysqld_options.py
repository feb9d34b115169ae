"""What MySQL and MariaDB are configured with: what no benchmark needs, and what would be there by chance, is left out.

An option that a release does not know is passed over by cmake.
"""

from __future__ import annotations

from collections.abc import Mapping

HOME = "/stepgrid"  # it is installed below a staging folder, and told where its files are when it is started

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "mysql": ("libssl-dev", "libncurses-dev", "libaio-dev", "libtirpc-dev", "zlib1g-dev", "liblz4-dev", "libzstd-dev"),
    "mariadb": (
        "libssl-dev",
        "libncurses-dev",
        "libaio-dev",
        "libpcre2-dev",
        "libfmt-dev",
        "zlib1g-dev",
        "liblz4-dev",
        "libzstd-dev",
    ),
}
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "mysql": {
        "WITH_UNIT_TESTS": "OFF",
        "WITH_ROUTER": "OFF",
        "WITH_MYSQLX": "OFF",
        "WITH_NDB": "OFF",
        "WITH_NDBCLUSTER": "OFF",
        "WITH_GROUP_REPLICATION": "OFF",
        "WITH_SYSTEMD": "OFF",
        "WITH_CURL": "none",
        "WITH_FIDO": "none",
        "WITH_EDITLINE": "bundled",
        "WITH_LIBEVENT": "bundled",
        "WITH_ICU": "bundled",
        "WITH_LZ4": "bundled",
        "WITH_PROTOBUF": "bundled",
        "WITH_RAPIDJSON": "bundled",
        "WITH_ZLIB": "bundled",
        "WITH_ZSTD": "bundled",
        "WITH_NUMA": "OFF",
        "MYSQL_MAINTAINER_MODE": "OFF",
        "INSTALL_MYSQLTESTDIR": "",
    },
    "mariadb": {
        "PLUGIN_ROCKSDB": "DYNAMIC",
        **{
            f"PLUGIN_{name}": "NO"
            for name in (
                "COLUMNSTORE",
                "CONNECT",
                "MROONGA",
                "OQGRAPH",
                "S3",
                "SPHINX",
                "SPIDER",
                "TOKUDB",
                "CRACKLIB_PASSWORD_CHECK",
                "AUTH_GSSAPI",
            )
        },
        "WITH_WSREP": "OFF",
        "WITH_UNIT_TESTS": "OFF",
        "WITH_EMBEDDED_SERVER": "OFF",
        "WITH_SYSTEMD": "no",
        "WITH_PCRE": "system",
        "WITH_LIBFMT": "system",
        "WITH_ZLIB": "system",
        "WITH_LIBAIO": "ON",
        "WITH_MARIABACKUP": "OFF",
        "WITH_NUMA": "OFF",
        "WITH_JEMALLOC": "no",
        "CONC_WITH_SSL": "OPENSSL",
        "INSTALL_MYSQLTESTDIR": "",
        "INSTALL_SYSCONFDIR": f"{HOME}/etc",
        "MYSQL_MAINTAINER_MODE": "NO",
    },
}
