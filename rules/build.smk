rule build:
    output:
        f"{work.marks}/builds/{{build,[^/]+}}",
    log:
        f"{work.marks}/log/{{build}}",
    params:
        id=lambda wildcards: work.names[wildcards.build],
    message:
        "build {wildcards.build}"
    resources:
        **jobs.of_builds,
    priority: 1  # all builds before any stage: else the blocks of the order could not be complete
    shell:
        "{QUIETLY} STEPGRID_PARENT=$PPID STEPGRID_MARK={output:q} STEPGRID_LOG={log:q}"
        " exec {PYTHON:q} -m stepgrid.pipeline build {PLAN} {params.id}"
