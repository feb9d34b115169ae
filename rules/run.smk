rule run:
    input:
        lambda wildcards: [ancient(mark) for mark in work.required_marks(work.names[wildcards.stage])],
    output:
        f"{work.marks}/stages/{{stage,[^/]+}}",
    log:
        f"{work.marks}/log/{{stage}}",
    params:
        **JOB,
        id=lambda wildcards: work.names[wildcards.stage],
    conda:
        SOFTWARE
    message:
        "measure {wildcards.stage}"
    threads: workflow.cores  # a measured stage has the host to itself
    resources:
        **jobs.of_stages,
    priority: lambda wildcards: -work.rank(work.names[wildcards.stage])
    shell:
        "{params.quietly} STEPGRID_PARENT=$PPID STEPGRID_MARK={output:q} STEPGRID_LOG={log:q}"
        " exec {params.python:q} -P -m stepgrid.pipeline run-stage {params.plan} {params.id}"
