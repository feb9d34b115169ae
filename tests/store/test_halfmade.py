import os

from compiler.store import halfmade
from compiler.store.durable import write_text
from compiler.store.store import Store

DEAD = 2**22 + 1  # no process has that number


def test_what_a_dead_process_was_writing_goes_when_the_file_is_written_again(tmp_path):
    for name in (f".table.json.{DEAD}", f".table.json.{os.getppid()}", f".other.json.{DEAD}", ".table.json.old"):
        (tmp_path / name).touch()
    write_text(tmp_path / "table.json", "{}")
    kept = [f".other.json.{DEAD}", f".table.json.{os.getppid()}", ".table.json.old", "table.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_a_run_sweeps_plans_and_marks_that_were_never_published(tmp_path):
    store = Store(tmp_path)
    staged = store.plan(f".p.{DEAD}~")
    staged.mkdir(parents=True)
    (staged / "plan.json").touch()
    store.mark("s-1").parent.mkdir()
    store.mark(f".s-1.{DEAD}").symlink_to("nowhere")
    requests = store.remembered("r").parent
    requests.mkdir()
    halfmade.everywhere(store.root)
    assert [*store.plan("p").parent.iterdir()] == [requests]
    assert [*store.mark("s-1").parent.iterdir()] == []


def test_tables_that_a_killed_collect_began(tmp_path):
    tables = tmp_path / "summary" / "p" / "tables"
    tables.mkdir(parents=True)
    (tables / f".steps.{DEAD}.json").touch()
    (tables / f".steps.parquet.{DEAD}").touch()
    Store(tmp_path).drop_stamps("p")
    assert [*tables.iterdir()] == []


def test_a_folder_that_is_not_there(tmp_path):
    halfmade.sweep(tmp_path / "none")
