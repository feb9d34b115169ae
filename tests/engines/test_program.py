from stepgrid.engines.program import ENGINE
from stepgrid.plugins.engines import building, runnable


def test_nothing_is_asked_of_a_program_that_nobody_knows() -> None:
    def run(program: str, arguments: object) -> tuple[str, str]:
        raise AssertionError(f"{program} was started")

    assert ENGINE.identify(run).version == ""
    assert ENGINE.catalogue(run) is None


def test_it_is_built_and_run() -> None:
    assert building("program") is ENGINE
    assert runnable("program")
