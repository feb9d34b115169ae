"""Local git repositories for tests, made by the real git."""

import shutil
import subprocess

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
DATE = "2024-05-06T07:08:09+00:00"


class Repository:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main", "--template=")

    @classmethod
    def copied(cls, other, folder):
        """For one test to change, of what many begin with."""
        shutil.copytree(other.folder, folder, symlinks=True)
        made = cls.__new__(cls)
        made.folder = folder
        return made

    @property
    def url(self):
        return f"file://{self.folder}"

    def git(self, *arguments):
        env = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE, "HOME": str(self.folder), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            ["git", *WHO, *arguments], cwd=self.folder, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, tag="", **files):
        """`files`: by name, `__` for a slash and `_` for a dot before the ending."""
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")
        if tag:
            self.git("tag", "--annotate", "--message=x", tag)
        return self.git("rev-parse", "HEAD")
