"""Threads of this process that run one piece of work after another.

They stay because the end of a thread object calls a function of Python's own (`threading._dangling`, the weak dictionaries of
`concurrent.futures`) on whatever thread lets go of it, and a Ctrl-C that comes in there is lost: it is printed as ignored, and the write
continues. Those that are too many end on their own thread, which no Ctrl-C reaches. A process that is forked begins without any.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Final, NoReturn, TypeAlias, TypeVar

Work: TypeAlias = Callable[[], None]
Result = TypeVar("Result")

_MOST_UNUSED_THREADS: Final = 8
#: How long the end of the process waits for work that is under way, and how often it looks, in seconds.
_LAST_WORK_S: Final = 10.0
_POLL_S: Final = 0.002


class Workers:
    """Threads, begun when there is work and all others have some; so work may wait for other work. It must raise nothing.

    They are daemons: a thread that waits for work would keep the process from ending. Work that is under way has some seconds to end.
    """

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._threads: set[threading.Thread] = set()
        self._changed = threading.Lock()
        #: Threads that wait for work, less the work that waits for threads.
        self._free = 0
        self._local = threading.local()

    @property
    def is_one(self) -> bool:
        """True on a thread of these."""
        return getattr(self._local, "is_one", False)

    def take(self, work: Work, times: int = 1) -> int:
        """Have work done on so many threads at once, and return on how many it is: fewer, or none, where the system starts no more threads.

        A Ctrl-C may come in anywhere: what is counted then is a thread too few, and one more is begun the next time.
        """
        claims = [_Claim(work) for _ in range(times)]
        for claim in claims:
            with self._changed:
                self._free -= 1
            self._waiting.put(claim)
        try:
            with self._changed:
                while self._free < 0:
                    thread = threading.Thread(target=self._run, name="pyhudi-work", daemon=True)
                    thread.start()
                    self._threads.add(thread)
                    self._free += 1
        except RuntimeError:  # the limit of threads or of memory for them is reached
            return times - sum(claim.claim_worker() for claim in claims)
        return times

    def begin(self, function: Callable[[], Result]) -> Callable[[], Result]:
        """Begin a call. What is returned, to be called once, waits for its result or raises its error.

        Example:
            >>> Workers().begin(lambda: 6 * 7)()
            42
        """
        answer: queue.SimpleQueue[Callable[[], Result]] = queue.SimpleQueue()

        def work() -> None:
            try:
                result = function()
            except BaseException as error:  # noqa: BLE001 - it belongs to the thread that waits
                answer.put(_Raised(error))
            else:
                answer.put(lambda: result)

        def result_of_it() -> Result:
            return answer.get()()

        if not self.take(work):
            work()
        return result_of_it

    def wait_until_free(self, timeout_s: float) -> bool:
        """Wait until no thread has work, at most so long, and tell whether none has.

        Example:
            >>> Workers().wait_until_free(0.0)
            True
        """
        for _ in range(int(timeout_s / _POLL_S)):
            if not self._is_busy():
                return True
            time.sleep(_POLL_S)
        return not self._is_busy()

    def _is_busy(self) -> bool:
        with self._changed:
            return self._free < len(self._threads)

    def _run(self) -> None:
        self._local.is_one = True
        while True:
            self._waiting.get()()
            with self._changed:
                if self._free >= _MOST_UNUSED_THREADS:
                    self._threads.discard(threading.current_thread())
                    return
                self._free += 1


class _Claim:
    """Work that waits in a queue until a thread claims it, or whoever put it there rolls it back."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._unclaimed = threading.Lock()

    def claim_worker(self) -> bool:
        """Claim the work; False when another process has."""
        return self._unclaimed.acquire(blocking=False)

    def __call__(self) -> None:
        if self.claim_worker():
            self._work()


class _Raised:
    """An error of one thread, to be raised on another."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __call__(self) -> NoReturn:
        raise self._error


_workers = Workers()


def workers() -> Workers:
    """Return the threads of this process."""
    return _workers


#: Threads that have ended stay until the next one begins, which releases them: on any other a Ctrl-C could be lost (see above).
_background: set[threading.Thread] = set()


def begin_background(work: Callable[[], object]) -> None:
    """Do work, which must raise nothing, in a thread that the interpreter waits for; here where the system starts no more threads."""

    def run() -> None:
        _background.difference_update([thread for thread in tuple(_background) if not thread.is_alive()])
        work()

    thread = threading.Thread(target=run, name="pyhudi-background", daemon=False)
    try:
        thread.start()
    except RuntimeError:
        work()
    else:
        _background.add(thread)


def wait_for_background() -> None:
    """Wait until the work that this process has begun in the background is done; the interpreter does so at its end."""
    for thread in tuple(_background):
        thread.join()


def _end() -> None:
    """Wait at the end of the process for work that nobody waits for any more.

    Arrow reads through Python's files on threads of its own. An interpreter that has ended stops such a thread for good, and the process
    with it: it hangs, or is aborted.
    """
    _workers.wait_until_free(_LAST_WORK_S)


atexit.register(_end)


def _forget() -> None:
    global _workers  # noqa: PLW0603 - threads do not come along when a process is forked
    _workers = Workers()


os.register_at_fork(after_in_child=_forget)
