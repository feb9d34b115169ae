# Loads HammerDB's tables of TPROC-C into the server that the environment names; with MINUTES, it runs TPROC-C for so
# many minutes after RAMPUP others that do not count. Both may have a fraction: HammerDB counts in steps of 6 seconds.
# It fails where HammerDB itself ends with status 0: where a virtual user fails, and where tables are missing.
proc fail {message} {
    puts stderr "hammerdb failed: $message"
    flush stderr
    exit 1
}

# All that districts gave out numbers for since the load: new orders, as HammerDB itself counts them.
proc count_orders {} {
    return [query "select sum(d_next_o_id - 3001) from district"]
}

# Of each virtual user HammerDB calls this when it ends; one that fails leaves the others waiting, or running without it.
rename printresult print_result
proc printresult {result thread} {
    catch {print_result $result $thread}
    if {$result} {
        fail "virtual user [expr {$::thvnum($thread) + 1}] failed; its error is in the output above"
    }
}

# HammerDB would wait for whole minutes, and end what still vacuums then.
proc keepalive {} {
    while {$::AVUC ne "complete"} {
        vwait ::AVUC
    }
}

# How many transactions HammerDB gave up: on PostgreSQL it says of each that its procedure had an error. On MySQL it prints
# what the server said, and nothing that could be counted.
set failed_transactions 0
rename putscli print_line
proc putscli {line} {
    if {[string match "*Procedure Error*" $line]} {
        incr ::failed_transactions
    }
    print_line $line
}

# HammerDB compares with true, letter by letter; an expression of a spec gives True.
proc flag {name} {
    return [expr {$::env($name) ? "true" : "false"}]
}

dbset bm TPC-C
if {[info exists ::env(PGHOST)]} {
    set server pg
    dbset db pg
    diset connection pg_host $::env(PGHOST)
    diset connection pg_port $::env(PGPORT)
    foreach name {superuser user} {
        diset tpcc pg_$name $::env(PGUSER)
    }
    foreach name {superuserpass pass} {
        diset tpcc pg_$name $::env(PGPASSWORD)
    }
    diset tpcc pg_defaultdbase postgres
    diset tpcc pg_dbase $::env(PGDATABASE)
    diset tpcc pg_storedprocs true
    package require Pgtcl
    proc query {sql} {
        set words [list host = $::env(PGHOST) port = $::env(PGPORT) user = $::env(PGUSER) dbname = $::env(PGDATABASE)]
        set connection [pg_connect -conninfo [concat $words [list password = $::env(PGPASSWORD)]]]
        set result [pg_exec $connection $sql]
        if {[pg_result $result -status] ne "PGRES_TUPLES_OK"} {
            error [pg_result $result -error]
        }
        set value [lindex [pg_result $result -getTuple 0] 0]
        pg_disconnect $connection
        return $value
    }
} else {
    set server mysql
    dbset db mysql
    diset connection mysql_socket $::env(MYSQL_UNIX_PORT)
    diset tpcc mysql_user $::env(MYSQL_USER)
    diset tpcc mysql_pass $::env(MYSQL_PWD)
    diset tpcc mysql_dbase $::env(MYSQL_DATABASE)
    package require mysqltcl
    proc query {sql} {
        set connection [mysql::connect -socket $::env(MYSQL_UNIX_PORT) -user $::env(MYSQL_USER) \
            -password $::env(MYSQL_PWD) -db $::env(MYSQL_DATABASE)]
        set value [lindex [mysql::sel $connection $sql -flatlist] 0]
        mysql::close $connection
        return $value
    }
}

if {[info exists ::env(MINUTES)]} {
    diset tpcc ${server}_driver timed
    diset tpcc ${server}_allwarehouse [flag ALL_WAREHOUSES]
    diset tpcc ${server}_rampup $::env(RAMPUP)
    diset tpcc ${server}_duration $::env(MINUTES)
    if {$server eq "pg"} {
        diset tpcc pg_vacuum [flag VACUUM]
    }
    loadscript
    vuset vu $::env(USERS)
    vucreate
    set before [count_orders]
    vurun
    set orders [expr {[count_orders] - $before}]
    vudestroy
    if {$orders < 1} {
        fail "no new order was made; its errors are in the output above"
    }
    puts "new orders of the step: $orders"
    if {$server eq "pg"} {
        puts "failed transactions: $failed_transactions"
    }
} else {
    diset tpcc ${server}_count_ware $::env(WAREHOUSES)
    diset tpcc ${server}_num_vu $::env(USERS)
    diset tpcc ${server}_partition [expr {$::env(WAREHOUSES) >= 200 ? "true" : "false"}]
    buildschema
    if {[catch {query "select count(*) from warehouse"} count] || $count != $::env(WAREHOUSES)} {
        fail "the load left no $::env(WAREHOUSES) warehouses: $count"
    }
    puts "warehouses: $count"
}
