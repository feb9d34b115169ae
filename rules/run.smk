rule run:
    input:
        lambda wildcards: [ancient(mark) for mark in work.before(wildcards.id)],
    output:
        f"{work.marks}/{{id,s-[^/]+}}",
    params:
        title=lambda wildcards: work.title(wildcards.id),
    message:
        "measure {params.title}"
    threads: workflow.cores  # a measured stage has the host to itself
    priority: lambda wildcards: -work.rank(wildcards.id)
    shell:
        "{QUIETLY} STEPGRID_PARENT=$PPID exec {PYTHON:q} -m stepgrid.run {PLAN} {wildcards.id}"
