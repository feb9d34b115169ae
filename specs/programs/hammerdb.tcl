# Loads HammerDB's tables of TPROC-C into the server that the environment names; with MINUTES, it runs TPROC-C for so
# many minutes after others that do not count.
dbset db pg
dbset bm TPC-C
diset connection pg_host $::env(PGHOST)
diset connection pg_port $::env(PGPORT)
diset tpcc pg_superuser $::env(PGUSER)
diset tpcc pg_superuserpass $::env(PGPASSWORD)
diset tpcc pg_defaultdbase $::env(PGDATABASE)
diset tpcc pg_storedprocs true
if {[info exists ::env(MINUTES)]} {
    diset tpcc pg_driver timed
    diset tpcc pg_rampup $::env(RAMPUP)
    diset tpcc pg_duration $::env(MINUTES)
    loadscript
    vuset vu $::env(USERS)
    vucreate
    vurun
    vudestroy
} else {
    diset tpcc pg_count_ware $::env(WAREHOUSES)
    diset tpcc pg_num_vu $::env(USERS)
    buildschema
}
