rule build:
    output:
        f"{work.marks}/{{id,b-[^/]+}}",
    params:
        title=lambda wildcards: work.title(wildcards.id),
    message:
        "build {params.title}"
    priority: 1  # all builds before any stage: else the blocks of the order could not be complete
    shell:
        "{QUIETLY} STEPGRID_PARENT=$PPID exec {PYTHON:q} -m stepgrid.build {PLAN} {wildcards.id}"
