rule build:
    output:
        f"{work.marks}/builds/{{build,[^/]+}}",
    log:
        f"{work.marks}/log/{{build}}",
    params:
        **JOB,
        id=lambda wildcards: work.names[wildcards.build],
    conda:
        SOFTWARE
    message:
        "build {wildcards.build}"
    resources:
        **jobs.of_builds,
    priority: 1  # all builds before any stage: else the blocks of the order could not be complete
    shell:
        "{params.quietly} STEPGRID_PARENT=$PPID STEPGRID_MARK={output:q} STEPGRID_LOG={log:q}"
        " exec {params.python:q} -P -m stepgrid.pipeline build {params.plan} {params.id}"
