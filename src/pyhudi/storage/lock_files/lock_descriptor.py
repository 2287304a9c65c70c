"""An open file whose lock (`flock`) belongs to one process alone, although a fork hands descriptors on.

A forked child shares its parent's open files, so a lock ends neither with `close` in the parent while the child lives nor with the
parent's death (flock(2)). So the parent unlocks before it closes, which ends the lock for all, and the child closes these descriptors as
its first act, which ends nothing for its parent. A child begun by exec never has them (`O_CLOEXEC`).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
from pathlib import Path

_SHARED = fcntl.LOCK_SH | fcntl.LOCK_NB
_EXCLUSIVE = fcntl.LOCK_EX | fcntl.LOCK_NB


class LockDescriptor:
    """An open file that can be locked; threads of one process exclude each other too, by a descriptor each.

    Example:
        >>> folder = os.open("/tmp", os.O_RDONLY)
        >>> lock = LockDescriptor("pyhudi-example.lock", os.O_RDWR | os.O_CREAT, folder)
        >>> lock.try_lock()
        True
        >>> lock.close()
    """

    __slots__ = ("_descriptor", "_process")

    def __init__(self, name: str, flags: int, folder: int) -> None:
        """Open the file `name` of the folder whose descriptor is given, without following links.

        Raises:
            OSError: it cannot be opened.
        """
        while True:
            epoch = _forks.epoch
            self._process = os.getpid()
            self._descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
            _open.add(self)
            if epoch is _forks.epoch and not _forks.running:
                return
            self.close()  # a child that was forked meanwhile may have the descriptor and not know of it

    def try_lock(self, *, shared: bool = False) -> bool:
        """Lock the file unless another one holds it, and tell whether that was done.

        Raises:
            OSError: the file system has no such locks.
        """
        try:
            fcntl.flock(self._descriptor, _SHARED if shared else _EXCLUSIVE)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise
        return True

    def unlock(self) -> None:
        """End the lock, whoever has a copy of the descriptor; the file stays open."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def content(self, max_bytes: int) -> bytes:
        """Return what the file begins with."""
        return os.pread(self._descriptor, max_bytes, 0)

    def birth(self) -> str:
        """Return a text that no other file has, made here or on another machine: number, device and time of the last change."""
        status = os.fstat(self._descriptor)
        return f"{status.st_ino} {status.st_dev} {status.st_ctime_ns} {os.getpid()} {os.uname().nodename}"

    def set_content(self, data: bytes) -> None:
        """Put something durably at the begin of the file, which stays the same file."""
        os.pwrite(self._descriptor, data, 0)
        os.fsync(self._descriptor)

    def is_deleted(self) -> bool:
        """Tell whether the file has no name any more."""
        return os.fstat(self._descriptor).st_nlink == 0

    def is_at(self, path: str) -> bool:
        """Tell whether the file is the one of a path, and opened by this process: a forked child has no part in the lock.

        On NFS a deleted file keeps a name, so that the count of names tells nothing.
        """
        if self._process != os.getpid():
            return False
        try:
            status = Path(path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.samestat(status, os.fstat(self._descriptor))

    def close(self) -> None:
        """End the lock and close the file; in a forked child, which has no part in the lock, nothing happens."""
        if self._descriptor < 0:
            return
        if self._process == os.getpid():  # a fork by other means than Python's does not call `forget`
            with contextlib.suppress(OSError):  # closing ends it as well
                self.unlock()
        self.forget()

    def forget(self) -> None:
        """Close this process's copy of the descriptor."""
        descriptor, self._descriptor = self._descriptor, -1
        _open.discard(self)
        os.close(descriptor)


class _Forks:
    """Forks that are under way on threads of this process; `epoch` is another object after each begin and end."""

    def __init__(self) -> None:
        self.running: set[int] = set()
        self.epoch = object()

    def begin(self) -> None:
        self.running.add(threading.get_ident())
        self.epoch = object()

    def end(self) -> None:
        self.epoch = object()
        self.running.discard(threading.get_ident())

    def end_in_child(self) -> None:
        self.running.clear()
        for lock in list(_open):
            lock.forget()


_open: set[LockDescriptor] = set()
_forks = _Forks()
os.register_at_fork(before=_forks.begin, after_in_parent=_forks.end, after_in_child=_forks.end_in_child)
