import subprocess
from pathlib import Path

import pytest

from stepgrid.build.ready_programs import _BUILD, move_aside, write_launcher
from stepgrid.build.record import absolute

SAYS = '#!/bin/sh\necho "$0 $BASE $*"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "a build"
    (made / "prefix" / "bin").mkdir(parents=True)
    (made / "prefix" / "bin" / "server").write_text(SAYS)
    (made / "prefix" / "bin" / "server").chmod(0o755)
    return made


def run(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, cwd="/").stdout


def test_a_program_finds_its_files_wherever_the_build_is(folder: Path):
    place = folder / "prefix" / "bin" / "server"
    real = move_aside(place)
    argv = write_launcher(place, folder, (str(real.relative_to(folder)),), {"BASE": f"{_BUILD}/prefix"})
    assert argv == ("prefix/bin/server",)
    moved = folder.rename(folder.with_name("moved $here"))
    said = run(*absolute(moved, argv), "a b", "--c")
    assert said == f"{moved}/prefix/bin/server.real {moved}/prefix a b --c\n"


def test_options_of_a_loader_stay_as_they_are(folder: Path):
    place = folder / "start"
    write_launcher(place, folder, ("prefix/bin/server", "--path", "prefix/a:prefix/b", "prefix/x"), {})
    assert (
        run(str(place)) == f"{folder}/prefix/bin/server  --path {folder}/prefix/a:{folder}/prefix/b {folder}/prefix/x\n"
    )


def test_a_link_makes_room_with_what_it_points_to(folder: Path):
    link = folder / "prefix" / "bin" / "older"
    link.symlink_to("server")
    assert move_aside(link).read_text() == SAYS
    assert sorted(path.name for path in link.parent.iterdir()) == ["older.real"]
