rule summarize:
    input:
        work.tables,
        work.stamps[0],
    output:
        text=work.text,
        page=work.page,
        stamp=work.stamps[1],
    message:
        "summarize"
    shell:
        "{QUIETLY} {REVISION} exec {PYTHON:q} -m stepgrid.summarize {PLAN}"
