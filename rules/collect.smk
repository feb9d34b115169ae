rule collect:
    input:
        work.evidence,
    output:
        work.products.tables,
        work.products.stamps[0],
    log:
        f"{work.marks}/log/collect",
    params:
        **JOB,
    conda:
        SOFTWARE
    message:
        "collect the tables"
    shell:
        "{params.quietly} STEPGRID_REVISION={params.revision} exec {params.python:q} -P -m stepgrid.pipeline collect {params.plan}"
        " 2> >(tee {log:q} >&2)"
