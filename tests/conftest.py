"""What all tests share."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from stepgrid.language.problems import SpecError, _source, format_problems
from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import compile_spec
from stepgrid.plugins import registry
from tests import fast, needs, scheduler
from tests.golden import OPTION, golden, is_compared
from tests.halves import FIRST, SECOND, HalfRun
from tests.lint_run import LintRun

TESTS = Path(__file__).resolve().parent
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)
HOST = {"cpu": "a", "cores": 2, "memory": 2**33, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}
__all__ = ["golden"]

os.environ.pop("COLUMNS", None)  # pytest gives the processes that it starts the width of its terminal

Compile = Callable[..., Plan]

# the machines that run this are busy: an example that takes long says nothing about the code
settings.register_profile("stepgrid", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=25)
settings.register_profile("fast", settings.get_profile("stepgrid"), max_examples=5)
settings.register_profile("nightly", settings.get_profile("stepgrid"), max_examples=200)
settings.load_profile("stepgrid")

# whoever starts the tests in the background of a shell has them ignore Ctrl-C, and what they start inherits that
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--lint", action="store_true", help="run `make lint` beside the tests, and fail where it does")
    parser.addoption(FIRST, type=Path, metavar="FILE", help="write there which tests were done (.ci/run)")
    parser.addoption(SECOND, type=Path, metavar="FILE", help="leave out the tests that this file says were done")
    parser.addoption(
        fast.OPTION, action="store_true", help="leave out engines, Snakemake and all that takes over half a second"
    )
    parser.addoption(fast.WRITE, action="store_true", help="add what takes over half a second to tests/slow.txt")
    parser.addoption(
        OPTION, action="store_true", help="write the files of exact texts anew, by the tests that compare them"
    )


def pytest_configure(config):
    target, source = config.getoption(FIRST), config.getoption(SECOND)
    if target or source:
        config.pluginmanager.register(HalfRun(target, source))
    if config.getoption(fast.OPTION):
        settings.load_profile("fast")
    if config.getoption(fast.WRITE):
        config.pluginmanager.register(fast.SlowTests())
    if config.getoption("lint") and not source and not hasattr(config, "workerinput"):
        config.pluginmanager.register(LintRun())


def pytest_ignore_collect(collection_path, config):
    return True if config.getoption(fast.OPTION) and fast.is_left_out(collection_path) else None


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(TESTS / "integration") or item.path.is_relative_to(TESTS / "kills"):
            item.add_marker(pytest.mark.integration)
    if items and items[0].config.getoption(OPTION):
        items[:] = [item for item in items if is_compared(item)]
    if items and items[0].config.getoption(fast.OPTION):
        fast.leave_out(items)
    items.sort(key=lambda item: scheduler.order(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return scheduler.Scheduler(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before any fixture is made."""
    needs.require(*(name for mark in item.iter_markers("needs") for name in mark.args))


def pytest_terminal_summary(terminalreporter):
    """pytest's own last line follows."""
    skipped = terminalreporter.getreports("skipped")
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.write_sep("=", "skipped")
        for line in needs.report(reasons):
            terminalreporter.write_line(line)


@pytest.fixture(autouse=True, scope="session")
def host_lock_of_the_tests(tmp_path_factory):
    """Tests neither wait for a run on this host nor hold one up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEPGRID_HOST_LOCK", str(tmp_path_factory.mktemp("host") / "lock"))
        patch.setenv("STEPGRID_LOOK", "0")  # how noisy it is beside other tests says nothing
        yield


@pytest.fixture(autouse=True)
def imported_engines():
    """A test may put an engine of its own under a name."""
    yield
    registry.engine.cache_clear()


@pytest.fixture(autouse=True)
def signal_handlers():
    """A command that a test runs in this process sets its own: Ctrl-C would end pytest without a word."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def no_site_file(monkeypatch):
    """Whatever is in the folder or in the environment of whoever runs the tests."""
    monkeypatch.setenv("STEPGRID_SITE", "")


@pytest.fixture
def compile_text(tmp_path, monkeypatch):
    """The plan of a spec given as text; further files by name."""

    def compiled(text, scale=None, problems=None, **files):
        monkeypatch.chdir(tmp_path)
        Path("a.yaml").write_text(text, encoding="utf-8")
        for name, content in files.items():
            Path(f"{name}.yaml").write_text(content, encoding="utf-8")
        _source.cache_clear()
        return compile_spec("a.yaml", scale, HOST, problems=problems)

    return compiled


@pytest.fixture
def complaints(compile_text):
    """What is said about a wrong spec."""

    def said(text, scale=None, **files):
        with pytest.raises(SpecError) as caught:
            compile_text(text, scale, **files)
        return format_problems(caught.value.problems)

    return said
