import hashlib
import platform
import stat
import zipfile

import pytest

from stepgrid.build.error import BuildError
from stepgrid.model.site import Site
from stepgrid_registries.maven import Maven, open_jar
from tests.build.ordering import order
from tests.build.test_archive import file, link, tar, zipped

JAR = {"maven": "a.b:c:1", "classifier": "linux64"}

# what mvn does with the words it gets: the jar of its repository, or what it says that it has not
MVN = """#!/bin/sh
echo "$@" >> {folder}/words
[ -e {folder}/c.jar ] || {{ echo "Could not find artifact a.b:c:jar:linux64:1 in r"; exit 1; }}
for word; do case $word in -DoutputDirectory=*) cp {folder}/c.jar "${{word#*=}}/c-1-linux64.jar";; esac; done
"""


@pytest.fixture
def mvn(tmp_path):
    program = tmp_path / "mvn"
    program.write_text(MVN.format(folder=tmp_path))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    zipped(tmp_path / "c.jar", ("META-INF/MANIFEST.MF", 0o644, "m"), ("libc-linux64.so", 0o644, "so"))
    return program


def obtain(mvn, source, **fields):
    folder = mvn.with_name("attempt")
    wanted = order(folder, source, site=Site(tools={"mvn": str(mvn)}), **fields)
    return Maven().fetch(source, folder, wanted)


def digest(mvn):
    return hashlib.sha256(mvn.with_name("c.jar").read_bytes()).hexdigest()


def test_a_home_that_is_not_there(mvn):
    """mvn takes the home of the user database, whatever HOME says."""
    mvn.write_text(
        "#!/bin/sh\necho '[ERROR] Could not create local repository at /home/x/.m2/repository -> [Help 1]'\nexit 1\n"
    )
    with pytest.raises(BuildError) as caught:
        obtain(mvn, JAR)
    assert str(caught.value) == (
        "mvn cannot create its local repository /home/x/.m2/repository: make its folder, or name another one: "
        "export MAVEN_OPTS=-Dmaven.repo.local=FOLDER"
    )


JAVA = [("META-INF/MANIFEST.MF", 0o644, "m"), ("org/x/A.class", 0o644, "c")]


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def holding(folder, *names):
    """A jar with archives of these names, each with a program that says which one it is of."""
    path = zipped(folder / "a-1.jar", *JAVA)
    with zipfile.ZipFile(path, "a") as archive:
        for name in names:
            inner = tar(
                folder / name, file("bin/x", name.encode(), mode=0o755), file("share/y"), link("bin/z", "/etc/x")
            )
            archive.write(inner, name)
    return path


def names(prefix):
    return sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file())


def test_the_programs_for_this_machine(tmp_path):
    path = holding(tmp_path, "mysql-Linux-amd64.tar.gz", "mysql-Mac_OS_X-x86_64.tar.gz", "mysql-linux-arm64.tgz")
    open_jar(path, tmp_path / "prefix")
    assert names(tmp_path / "prefix") == ["bin/x", "share/y"]  # no link to where the packer's own files were
    assert (tmp_path / "prefix/bin/x").read_text() == "mysql-Linux-amd64.tar.gz"
    assert (tmp_path / "prefix/bin/x").stat().st_mode & 0o111
    assert not [*tmp_path.glob(".prefix*")]


@pytest.mark.parametrize(
    ("archives", "count"),
    [
        (["p-linux-arm_64.txz", "p-darwin-x86_64.txz"], "no archive"),
        (["p-linux.txz", "q-linux.txz"], "several archives"),
    ],
)
def test_no_archive_or_several(tmp_path, archives, count):
    with pytest.raises(BuildError) as caught:
        open_jar(holding(tmp_path, *archives), tmp_path / "prefix")
    listed = ", ".join(sorted(archives))
    assert str(caught.value) == f"a-1.jar holds {count} for Linux on x86_64; it holds: {listed}"
