"""What the engine is asked to do, at work beside the looks: some statements take as long as the work itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stepgrid.plugins.server import Access, IdleReading, ServerEngine

UNDER_WAY = "statements under way"
PATIENCE = 30.0  # seconds to put back what was set; a statement that is still under way is not waited for


class SettleRequest:
    """`work` says so when all is asked for; it then waits for the end, puts back what it set, and returns."""

    def __init__(self, work: Callable[[Callable[[], None], threading.Event], None]) -> None:
        self._asked, self._over = threading.Event(), threading.Event()
        self._error: Exception | None = None
        self.thread = threading.Thread(target=self._run, args=(work,), daemon=True)

    def _run(self, work: Callable[[Callable[[], None], threading.Event], None]) -> None:
        try:
            work(self._asked.set, self._over)
        except Exception as error:  # said by whoever looks
            self._error = error

    def seen(self) -> IdleReading:
        if self._error is not None:
            raise self._error
        return IdleReading(UNDER_WAY, 0.0 if self._asked.is_set() else 1.0, 0)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Leaving it waits until everything is as it was; also when the step is stopped."""
        try:
            yield
        finally:
            self._over.set()
            if self.thread.ident is not None:
                self.thread.join(PATIENCE if self._asked.is_set() else 0.0)

    def start(self) -> None:
        self.thread.start()


def of_server(engine: ServerEngine, access: Access, flush: bool, analyze: bool) -> SettleRequest:
    """The statistics first: what they change is flushed as well."""

    def work(asked: Callable[[], None], over: threading.Event) -> None:
        connection = engine.connect(access)
        if analyze:
            engine.analyze(connection, access)
        if flush:
            with engine.settle(connection, access):
                asked()
                over.wait()
        asked()
        connection.close()

    return SettleRequest(work)
