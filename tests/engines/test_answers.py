"""What programs and running servers say of themselves, as data, and what is understood of it.

programs.yaml: what a program prints when it is asked, the first words that fit; servers.yaml: rows by words of the
statement that asked for them. The golden text has what is identified, each option, what is left to do, or the refusal.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from stepgrid.plugins.engine import IdentityError
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import engine
from stepgrid.plugins.server import Access
from stepgrid_databases.engines.mysqld.statistics import looks as mysqld
from stepgrid_databases.engines.postgres.statistics import looks as postgres
from tests.cases import cases
from tests.engines.told import Told

PROGRAMS, SERVERS = (cases(Path(__file__).with_name(f"{name}.yaml")) for name in ("programs", "servers"))
FOLDER = re.compile(r"(?<=[ =])/\S*tmp\S*")


def program(case, asked):
    def run(name, arguments):
        words = FOLDER.sub("FOLDER", " ".join((name, *arguments)))
        asked.append(words)
        folders = [word.removeprefix("--db=") for word in arguments if word.startswith("--db=")]
        for folder in folders if "log" in case else ():  # as db_bench leaves it in its database
            Path(folder, "LOG").write_text(case["log"])
        said = next((texts for part, texts in case["says"].items() if part in words), "")
        return (said, "") if isinstance(said, str) else (said.get("out", ""), said.get("err", ""))

    return run


def identity_lines(found):
    checks = {True: "with assertions", False: "without assertions", None: "assertions unknown"}[found.assertions]
    yield f"  version {found.version}, {checks}"
    yield from (f"  fact {name}: {text}" for name, text in (found.facts or {}).items())
    yield from (f"  warning: {text}" for text in found.warnings)


def option_line(name, option):
    limits = f" {option.least} to {option.most}" if option.least or option.most else ""
    choices = f" of {', '.join(option.choices)}" if option.choices else ""
    return f"  option {name}: {option.type} {option.default!r}{limits}{choices} {option.help!r}"


def attempt(lines):
    try:
        yield from [*lines()]
    except (IdentityError, PermissionError) as error:
        yield f"  refused: {error}"


def described_program(case):
    kind, asked = engine(case["engine"]), list[str]()
    run = program(case, asked)
    yield from attempt(lambda: identity_lines(kind.identify(run)))
    if "catalogue" in case:
        options = lambda: (option_line(name, option) for name, option in (kind.catalogue(run) or {}).items())  # noqa: E731
        yield from attempt(options)
    yield from (f"  asked: {words}" for words in dict.fromkeys(asked))


def described_server(case):
    server = engine(case["engine"])
    told = Told(case["answers"])
    if "asks" in case:
        found = server.compared(told, case["asks"])
        yield from (f"  {name} is {value}" for name, value in found.values.items())
        yield from (f"  {name}: {text}" for name, text in found.differs.items())
    elif "storage" in case:
        access = Access(case["engine"], Path("/s"), Path("/s/socket"), 1, "stepgrid", "x", "bench", case["storage"])
        for seen in server.busy(told, access):
            yield f"  {seen.what} {seen.value:g}, at most {seen.least:g}: {'idle' if seen.idle else 'busy'}"
    else:
        found = server.described(told)
        yield from identity_lines(found.identity)
        yield from (option_line(name, option) for name, option in found.options.items())


@pytest.mark.parametrize("name", sorted({case["engine"] for case in PROGRAMS}))
def test_programs(name, golden):
    chosen = [case for case in PROGRAMS if case["engine"] == name]
    golden("\n\n".join("\n".join((case["case"], *described_program(case))) for case in chosen) + "\n")


@pytest.mark.parametrize("name", sorted({case["engine"] for case in SERVERS}))
def test_servers(name, golden):
    chosen = [case for case in SERVERS if case["engine"] == name]
    texts = ("\n".join((case["case"], *attempt(lambda case=case: described_server(case)))) for case in chosen)
    golden("\n\n".join(texts) + "\n")


@pytest.mark.parametrize("case", cases(Path(__file__).with_name("logs.yaml")), ids=lambda case: case["engine"])
def test_events_of_a_log(case, golden):
    server = engine(case["engine"])
    found = list(server.events(case["log"].splitlines(keepends=True)))
    golden("".join(f"{event.began - found[0].began:.4f} s: {event.seconds:.4g} s of {event[2]}: {event[3]}\n"
                   for event in found))  # fmt: skip


STATISTICS = Path(__file__).with_name("statistics")
READERS = {"mysql": mysqld, "postgres": postgres}


def described(engine, case):
    for reader in READERS[engine](Told(case["answers"])):
        yield f"  {reader.name}{', after the step alone' if reader.after_only else ''}"
        try:
            found = reader.read()
        except LookupError as error:
            yield f"    missing: {error.args[0]}"
            continue
        assert {*found.sizes, *found.garbage, *found.work} <= METRICS.keys()
        for name, value in found._asdict().items():
            if isinstance(value, Mapping):
                yield from (f"    {name} {key} {number:.10g}" for key, number in value.items())
            elif name == "text":
                yield from (f"    |{line}" for line in value.splitlines())
            else:
                for row in value or ():
                    columns = row if isinstance(row, Mapping) else row._asdict()
                    yield f"    {name} { ({key: cell for key, cell in columns.items() if cell is not None}) }"


@pytest.mark.parametrize("engine", READERS)
def test_statistics(engine, golden):
    all_cases = cases(STATISTICS / f"{engine}.yaml")
    golden("".join("\n".join((case["case"], *described(engine, case))) + "\n\n" for case in all_cases))
