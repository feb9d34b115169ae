"""Programs that a spec's own command makes, and those that could not be moved."""

import shutil
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material
from stepgrid.host.files import sha256
from stepgrid_databases.engines.recipes.program import ByCommand, relocation_fault
from tests.build.compilers import needs_compiler
from tests.build.ordering import order
from tests.cases import rows
from tests.needs import needs

MAIN = "int main(void) { return 0; }\n"
SCRIPT = "#!/bin/sh\n"


@pytest.fixture
def tree(tmp_path):
    made = tmp_path / "attempt" / "tree"
    made.mkdir(parents=True)
    (made / "main.c").write_text(MAIN)
    (made / "run").write_text(SCRIPT)
    (made / "run").chmod(0o755)
    return made


def make(tree, **flags):
    asked = order(tree.parent, {"path": "x"}, engine="program", recipe={"flags": flags})
    return ByCommand().make(asked, Material(tree=tree))


def test_parts_are_beside_the_tree(tree, tmp_path):
    """A command finds them there, and so does a program where the build is published."""
    (tmp_path / "more" / "inner").mkdir(parents=True)
    (tmp_path / "more" / "inner" / "word").write_text("hello\n")
    archive = Path(shutil.make_archive(str(tmp_path / "more"), "tar", tmp_path / "more", "inner"))
    part = {"tarball": archive.as_uri(), "sha256": sha256(archive)}
    (tree / "make.sh").write_text(f"{SCRIPT}cp ../parts/more/tree/word made\n")
    (tree / "make.sh").chmod(0o755)
    (tree / "run").write_text(f'{SCRIPT}cat "${{0%/*}}/made" "${{0%/*}}/../parts/more/tree/word"\n')
    recipe = {"flags": {"command": "./make.sh", "programs": "run"}}
    asked = order(tree.parent, {"path": "x", "parts": {"more": part}}, engine="program", recipe=recipe)
    made = ByCommand().make(asked, Material(tree=tree))
    assert [artifact.digest for artifact in made.artifacts] == [part["sha256"]]
    published = tree.parent.rename(tmp_path / "published")
    assert subprocess.check_output([published / made.programs["run"][0]], text=True) == "hello\nhello\n"


def refused(tree, **flags):
    with pytest.raises(BuildError) as caught:
        make(tree, **flags)
    return str(caught.value)


@needs("cc")
def test_a_compiled_program(tree):
    made = make(tree, command="cc -O1 -o x main.c", programs="x")
    assert made.programs == {"x": ("tree/x",)}
    assert made.quality["command"] == "cc -O1 -o x main.c"
    assert "GCC" in str(made.quality["compiler"]) or "clang" in str(made.quality["compiler"])
    assert (tree.parent / "build.log").read_text().startswith(f"$ {shutil.which('cc')} -O1 -o x main.c  [in tree]\n")


def test_a_program_that_is_there_already(tree):
    made = make(tree, programs="run")
    assert made.programs == {"run": ("tree/run",)}
    assert made.quality["compiler"] == "none"
    assert not (tree.parent / "build.log").exists()


def test_no_shell_reads_the_command(tree):
    make(tree, command="./run $HOME; touch canary", programs="run")
    assert not (tree / "canary").exists()


def test_flags_of_the_user_s_shell_do_not_count(tree, monkeypatch):
    monkeypatch.setenv("CFLAGS", "-O0")
    monkeypatch.setenv("MAKEFLAGS", "-n")
    (tree / "run").write_text('#!/bin/sh\necho "[$CFLAGS$MAKEFLAGS] $LC_ALL" > said\n')
    make(tree, command="./run", programs="run")
    assert (tree / "said").read_text() == "[] C\n"


def test_a_command_that_fails(tree):
    assert refused(tree, command="ls no-such-file", programs="x") == "the build's command ls ended with exit status 2"
    assert "no-such-file': No such file or directory" in (tree.parent / "build.log").read_text()


NONE = (
    "there is no program {}, which this build needs: "
    "install it (Debian package {}), or name it under `tools:` in the site file"
)


def test_a_machine_without_a_compiler(tree, tmp_path, monkeypatch):
    make_program = str(shutil.which("make"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    assert refused(tree, command="cc main.c", programs="x") == NONE.format("cc", "gcc")
    (tree / "Makefile").write_text("x: main.c\n\tcc -o x main.c\n")
    (tmp_path / "bin" / "make").symlink_to(make_program)
    assert refused(tree, command="make x", programs="x") == NONE.format("cc", "gcc")


def test_programs_that_are_none(tree):
    (tree / "data").write_text("x")
    (tree / "sh").symlink_to("/bin/sh")
    assert refused(tree, programs="x") == "the tree has no program x when its command has ended"
    assert refused(tree, programs="data") == "data is not executable: `chmod +x` it, and begin a script with `#!`"
    assert refused(tree, programs="sh") == "the program sh is a link out of its tree"


def test_a_program_that_remembers_its_folder(tree):
    (tree / "run").write_text(f"#!/bin/sh\nexec {tree}/other\n")
    assert refused(tree, programs="run") == (
        "the program run would not run where the build is published: "
        "its text names the folder that it was made in; let it find its files by `$0`"
    )


@pytest.fixture
def linked_tree(tmp_path):
    """A library, and a program that needs it."""
    made = tmp_path / "tree"
    made.mkdir()
    (made / "f.c").write_text("int f(void) { return 0; }\n")
    (made / "main.c").write_text(
        'int f(void);\nconst char *where = FOLDER "/main.c";\nint main(void) { return f(); }\n'
    )
    return made


def linked(linked_tree, run_path):
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libf.so", "f.c"], cwd=linked_tree, check=True)
    named = f'-DFOLDER="{linked_tree}"'
    subprocess.run(
        ["cc", "-g", named, "-o", "run", "main.c", "-L.", "-lf", f"-Wl,-rpath,{run_path}"], cwd=linked_tree, check=True
    )
    return linked_tree / "run"


@needs_compiler
def test_a_run_path(linked_tree):
    assert relocation_fault(linked(linked_tree, str(linked_tree)), linked_tree) == (
        "it looks for its libraries in the folder that it was compiled in; "
        "link it with the run path `$ORIGIN/…`, or statically"
    )


@pytest.mark.parametrize(("text", "why"), rows(__file__, "a_script"))
def test_a_script(text, why, linked_tree):
    (linked_tree / "run").write_text(text.replace("TREE", str(linked_tree)))
    assert relocation_fault(linked_tree / "run", linked_tree) == why
