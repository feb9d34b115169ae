"""The Debian package of each program that some tests need. As a script: the packages that this machine lacks."""

import os
import shutil

PACKAGES = {
    "ar": "binutils",
    "bzip2": "bzip2",
    "bison": "bison",
    "c++": "g++",
    "cargo": "cargo",
    "cc": "gcc",
    "chromium": "chromium",
    "cmake": "cmake",
    "dpkg-source": "dpkg-dev",
    "go": "golang-go",
    "iostat": "sysstat",
    "mkfs.ext4": "e2fsprogs",
    "make": "make",
    "mount": "mount",
    "munged": "munge",
    "mvn": "maven",
    "ninja": "ninja-build",
    "nm": "binutils",
    "node": "nodejs",
    "npm": "npm",
    "perf": "linux-perf",
    "perl": "perl",
    "pkg-config": "pkgconf",
    "sbatch": "slurm-client",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sshd": "openssh-server",
    "strip": "binutils",
    "tmux": "tmux",
    "unshare": "util-linux",
    "vmstat": "procps",
    "zstd": "zstd",
}


def missing(programs):
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"  # of an ordinary user, where Debian has servers elsewhere
    return [name for name in programs if shutil.which(name, path=path) is None]


def packages(programs):
    return sorted({PACKAGES[name] for name in programs if name in PACKAGES})


if __name__ == "__main__":
    print(*packages(missing(PACKAGES)))
