proc dbset {args} {puts "dbset $args"}
proc diset {args} {puts "diset $args"}
foreach name {loadscript vuset vucreate vudestroy} {proc $name {args} {}}
proc putscli {line} {puts $line}
proc printresult {result thread} {error "HammerDB has an error of its own here"}
proc pg_connect {args} {}
proc pg_disconnect {args} {}
proc pg_exec {connection sql} {set ::sql $sql}
proc pg_result {result what args} {
    if {$what eq "-status"} {return $::env(STATUS)}
    return [expr {[string match *count* $::sql] ? $::env(COUNT) : [incr ::orders $::env(ORDERS)]}]
}
package provide Pgtcl 1
set thvnum(t1) 1
proc work {} {
    putscli "Vuser 2:New Order Procedure Error set RAISEERROR for Details"
    printresult $::env(RESULT) t1
    set ::AVUC complete
}
proc vurun {} {after 10 work; set ::AVUC run; keepalive}
proc buildschema {} {printresult $::env(RESULT) t1}
source $::env(PROGRAM)
