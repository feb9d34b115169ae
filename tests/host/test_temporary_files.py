import os
import subprocess
import time

from stepgrid.host import files
from stepgrid.host.files import write_cache, write_text
from stepgrid.store.store import Store

DEAD = 2**22 + 1  # no process has that number


def test_what_a_dead_process_was_writing_goes_when_the_file_is_written_again(tmp_path):
    for name in (f".table.json.{DEAD}", f".table.json.{os.getppid()}", f".other.json.{DEAD}", ".table.json.old"):
        (tmp_path / name).touch()
    write_text(tmp_path / "table.json", "{}")
    kept = [f".other.json.{DEAD}", f".table.json.{os.getppid()}", ".table.json.old", "table.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_a_link_that_somebody_put_in_the_way_is_not_followed(tmp_path):
    (tmp_path / "victim").write_text("theirs")
    for write, name in ((write_text, "a.json"), (write_cache, "b.json")):
        (tmp_path / f".{name}.{files.temporary_suffix()}").symlink_to("victim")
        write(tmp_path / name, "ours")
        assert (tmp_path / name).read_text() == "ours"
        assert not (tmp_path / name).is_symlink()
    assert (tmp_path / "victim").read_text() == "theirs"


def test_a_run_sweeps_plans_and_marks_that_were_never_published(tmp_path):
    store = Store(tmp_path)
    staged = store.plan(f".p.{DEAD}~")
    staged.mkdir(parents=True)
    (staged / "plan.json").touch()
    store.mark("s-1").parent.mkdir()
    store.mark(f".s-1.{DEAD}").symlink_to("nowhere")
    requests = store.remembered("r").parent
    requests.mkdir()
    files.sweep_store(store.root)
    assert [*store.plan("p").parent.iterdir()] == [requests]
    assert [*store.mark("s-1").parent.iterdir()] == []


def begun(store, plan="p"):
    """What a killed collect and summarize may leave: in each folder that they write to."""
    tables = store.stamps(plan, "")[0].parent
    (tables / "parts").mkdir(parents=True)
    names = (f".metrics.{DEAD}.json", f".steps.parquet.{DEAD}", f"parts/.figures.3.parquet.{DEAD}")
    found = [*(tables / name for name in names), store.summary(plan) / f".index.html.{DEAD}"]
    for path in found:
        path.touch()
    return found


def test_what_a_killed_collect_and_summarize_began_goes_before_the_next_one_writes(tmp_path):
    store = Store(tmp_path)
    left = begun(store)
    store.drop_stamps("p")
    assert [path for path in left if path.exists()] == []


def test_a_run_sweeps_the_summaries_of_other_plans_too(tmp_path):
    store = Store(tmp_path)
    left = [*begun(store, "old"), *begun(store, "new")]
    files.sweep_store(store.root)
    assert [path for path in left if path.exists()] == []


def test_a_writer_that_nobody_waits_for_is_dead(tmp_path):
    killed = subprocess.Popen(["true"])
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # its number stays until its parent asks
    (tmp_path / f".metrics.{killed.pid}.json").touch()
    (tmp_path / f".metrics.{os.getpid()}.json").touch()
    files.sweep_temporary(tmp_path)
    killed.wait()
    assert [path.name for path in tmp_path.iterdir()] == [f".metrics.{os.getpid()}.json"]


def test_a_folder_that_is_not_there(tmp_path):
    files.sweep_temporary(tmp_path / "none")


def test_what_another_host_writes_is_left_for_a_day(tmp_path):
    """Its processes have numbers that nobody, or somebody else, has here."""
    young, old = (tmp_path / f".{name}.json.{DEAD}@0123abcd" for name in ("young", "old"))
    own = tmp_path / f".own.json.{files.temporary_suffix().replace(str(os.getpid()), str(DEAD))}"
    for path in (young, old, own):
        path.touch()
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    files.sweep_temporary(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [young.name]
