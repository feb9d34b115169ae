rule summarize:
    input:
        work.tables,
        work.stamps[0],
    output:
        text=report(work.text, category="Results", labels={"results": "summary"}),
        page=report(work.page, category="Results", labels={"results": "page with charts"}),
        stamp=work.stamps[1],
    message:
        "summarize"
    shell:
        "{QUIETLY} {REVISION} exec {PYTHON:q} -m stepgrid.pipeline summarize {PLAN}"
