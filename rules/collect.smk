rule collect:
    input:
        work.evidence,
    output:
        work.tables,
        work.stamps[0],
    message:
        "collect the tables"
    shell:
        "{QUIETLY} {REVISION} exec {PYTHON:q} -m stepgrid.pipeline collect {PLAN}"
