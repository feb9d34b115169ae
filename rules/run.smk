rule run:
    input:
        lambda wildcards: [ancient(mark) for mark in work.required_marks(work.names[wildcards.stage])],
    output:
        f"{work.marks}/stages/{{stage,[^/]+}}",
    log:
        f"{work.marks}/log/{{stage}}",
    params:
        id=lambda wildcards: work.names[wildcards.stage],
    message:
        "measure {wildcards.stage}"
    threads: workflow.cores  # a measured stage has the host to itself
    resources:
        **jobs.of_stages,
    priority: lambda wildcards: -work.rank(work.names[wildcards.stage])
    shell:
        "{QUIETLY} STEPGRID_PARENT=$PPID STEPGRID_MARK={output:q} STEPGRID_LOG={log:q}"
        " exec {PYTHON:q} -m stepgrid.pipeline run-stage {PLAN} {params.id}"
