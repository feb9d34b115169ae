rule summarize:
    input:
        work.products.tables,
        work.products.stamps[0],
    output:
        text=report(work.products.text, category="Results", labels={"results": "summary"}),
        page=report(work.products.page, category="Results", labels={"results": "page with charts"}),
        stamp=work.products.stamps[1],
    log:
        f"{work.marks}/log/summarize",
    params:
        **JOB,
    conda:
        SOFTWARE
    message:
        "summarize"
    shell:
        "{params.quietly} STEPGRID_REVISION={params.revision} exec {params.python:q} -P -m stepgrid.pipeline summarize {params.plan}"
        " 2> >(tee {log:q} >&2)"
