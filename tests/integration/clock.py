"""A clock that is set back, or a host that was suspended, from the moment that a file appears: for every process that
preloads it an hour less, or an hour more also since the host's start.

Times of files move along: those that were written after that moment are seen, and set, by the new clock.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True, slots=True)
class Clock:
    library: Path
    switch: Path
    step: int = -3600  # seconds

    @property
    def env(self):
        return {"LD_PRELOAD": str(self.library), "CLOCK_MOVED": str(self.switch), "CLOCK_STEP": str(self.step)}

    def move(self):
        self.switch.touch()


def compiled(folder, step=-3600):
    library = folder / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library, SOURCE], check=True)
    return Clock(library, folder / "moved", step)
