"""Wrong specs: placeholders of commands, probes and collectors."""

from tests.language.bad import BASE, Said

PROGRAM = """\
title: t
builds: {mine: {engine: program, version: "1.0", source: {system: sh}}}
steps:
"""
SERVER = """\
title: t
builds: {maria: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
steps:
"""
KNOWN = "known here: {data} {folder} {seed} {options} {program:NAME}; `{ … }` with a space inside is left as it is"
OF_SERVERS = KNOWN.replace("{program:NAME}", "{program:NAME} {host} {socket} {sockets} {port} {user} {database}")
WITH_PID = KNOWN.replace("{program:NAME}", "{program:NAME} {pid}")

CASES: dict[str, Said] = {
    "a program without its name": (
        PROGRAM + '  - {name: put, kind: command, argv: ["{program}", "{dta}/x", "--to={folder}"]}\n',
        [
            (
                "4:39",
                "unknown-placeholder",
                "step `put`: `argv` has no placeholder `{program}`",
                f"did you mean `{{program:NAME}}`? {KNOWN}",
            ),
            (
                "4:52",
                "unknown-placeholder",
                "step `put`: `argv` has no placeholder `{dta}`",
                f"did you mean `{{data}}`? {KNOWN}",
            ),
        ],
    ),
    "a placeholder with a name that takes none": (
        PROGRAM + '  - {name: put, kind: command, argv: [ls, "{data:x}"]}\n',
        [
            (
                "4:43",
                "unknown-placeholder",
                "step `put`: `argv` has no placeholder `{data:x}`",
                f"did you mean `{{data}}`? {KNOWN}",
            )
        ],
    ),
    "a placeholder of servers without a server": (
        PROGRAM + '  - {name: put, kind: command, argv: [psql, -h, "{sockets}"]}\n',
        [
            (
                "4:49",
                "unknown-placeholder",
                "step `put`: `argv` has no placeholder `{sockets}`",
                f"only servers have it; {KNOWN}",
            )
        ],
    ),
    "a placeholder that no server has": (
        SERVER + '  - {name: ask, kind: command, argv: [mariadb, "--password={password}"]}\n',
        [
            (
                "4:48",
                "unknown-placeholder",
                "step `ask`: `argv` has no placeholder `{password}`",
                OF_SERVERS,
            )
        ],
    ),
    "nearly a placeholder in a script": (
        PROGRAM + '  - {name: put, kind: command, argv: [sh, -c, "ls {dataa} > {folder}/x; echo ${HOME} {what}"]}\n',
        [
            (
                "4:47",
                "unknown-placeholder",
                "step `put`: `argv` has no placeholder `{dataa}`",
                f"did you mean `{{data}}`? {KNOWN}",
            )
        ],
    ),
    "placeholders of probes and collectors": (
        BASE
        + 'probes: [{name: size, after: [readww], command: [du, "{dato}"]}]\n'
        + 'collectors: [{name: waits, command: [waits, "{pdi}"]}]\n',
        [
            (
                "9:54",
                "unknown-placeholder",
                "probe `size`: `command` has no placeholder `{dato}`",
                f"did you mean `{{data}}`? {KNOWN}",
            ),
            (
                "10:45",
                "unknown-placeholder",
                "collector `waits`: `command` has no placeholder `{pdi}`",
                f"did you mean `{{pid}}`? {WITH_PID}",
            ),
        ],
    ),
}
