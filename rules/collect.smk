rule collect:
    input:
        work.evidence,
    output:
        work.tables,
    message:
        "collect the tables"
    shell:
        "exec {PYTHON:q} -m compiler.collect {PLAN}"
