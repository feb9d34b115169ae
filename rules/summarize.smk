rule summarize:
    input:
        work.tables,
    output:
        text=work.text,
        page=work.page,
    message:
        "summarize"
    shell:
        "exec {PYTHON:q} -m compiler.summarize {PLAN}"
