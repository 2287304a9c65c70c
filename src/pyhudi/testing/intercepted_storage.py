"""A storage whose every call passes one method, for recorders and fault injectors to override."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from pyhudi.storage.storage_protocol import FileStatus, HeldLock, Storage

T = TypeVar("T")

#: Calls that change the storage; `open_output` makes the name, `close_output` the content.
CHANGING_CALLS = frozenset(
    {"create", "replace", "open_output", "close_output", "delete", "delete_tree", "make_dir", "set_modified", "lock"}
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a storage."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method}({self.path})"


class InterceptedStorage:
    """Hands each call to `inner` through `_pass`; writing a data file is two calls, at its opening and its closing."""

    def __init__(self, inner: Storage) -> None:
        """Wrap a storage."""
        self.inner = inner

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        """Run `effect`, which does the call; `torn` does half of it, where half is possible."""
        del call, torn
        return effect()

    @property
    def uri(self) -> str:
        """The address of the storage inside."""
        return self.inner.uri

    def list(self, path: str) -> list[FileStatus]:
        """Pass a listing."""
        return self._pass(Call("list", path), lambda: self.inner.list(path))

    def file_names(self, path: str) -> tuple[str, ...]:
        """Pass a listing of names."""
        return self._pass(Call("list", path), lambda: self.inner.file_names(path))

    def stat(self, path: str) -> FileStatus | None:
        """Pass a question for a status."""
        return self._pass(Call("stat", path), lambda: self.inner.stat(path))

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Pass a read."""
        return self._pass(Call("read", path), lambda: self.inner.read(path, max_bytes=max_bytes))

    def open_input(self, path: str) -> BinaryIO:
        """Pass the opening of a file; what is read from it afterwards is not intercepted."""
        return self._pass(Call("open_input", path), lambda: self.inner.open_input(path))

    @contextlib.contextmanager
    def open_output(self, path: str) -> Iterator[BinaryIO]:
        """Pass the making of an empty file, keep what is written, and pass the putting of the content."""
        self._pass(Call("open_output", path), lambda: self.inner.create(path, b""))
        sink = _RecordedBytes()
        try:
            yield sink
            data = sink.getvalue()
            self._pass(
                Call("close_output", path),
                lambda: self.inner.replace(path, data),
                lambda: self.inner.replace(path, data[: len(data) // 2]),
            )
        except BaseException:
            self._clean_up(path)
            raise

    def _clean_up(self, path: str) -> None:
        """Remove the file whose writing failed; a storage that plays a dead process does not."""
        self.inner.delete(path)

    def create(self, path: str, data: bytes) -> None:
        """Pass an exclusive create."""
        self._pass(Call("create", path), lambda: self.inner.create(path, data), lambda: self._leave_over(path, data))

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Pass a replacement."""
        self._pass(Call("replace", path), lambda: self.inner.replace(path, data, expected=expected), lambda: self._leave_over(path, data))

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Pass the setting of a file's time."""
        self._pass(Call("set_modified", path), lambda: self.inner.set_modified(path, modified_ms))

    def delete(self, path: str) -> bool:
        """Pass a delete."""
        return self._pass(Call("delete", path), lambda: self.inner.delete(path))

    def delete_tree(self, path: str) -> None:
        """Pass the delete of a folder, which may stop half-way."""
        self._pass(Call("delete_tree", path), lambda: self.inner.delete_tree(path), lambda: self._delete_half(path))

    def make_dir(self, path: str) -> None:
        """Pass the making of a folder."""
        self._pass(Call("make_dir", path), lambda: self.inner.make_dir(path))

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        """Pass the taking of a lock; its release always happens, as it does when a process dies."""
        with contextlib.ExitStack() as present:
            yield self._pass(Call("lock", name), lambda: present.enter_context(self.inner.lock(timeout_s, name, provider)))

    def _leave_over(self, path: str, data: bytes) -> None:
        """Leave what a killed create of the local storage leaves: half the bytes under a name that no reader knows."""
        folder, _, name = path.rpartition("/")
        self.inner.replace(f"{folder}/.{name}.0-0.tmp" if folder else f".{name}.0-0.tmp", data[: len(data) // 2])

    def _delete_half(self, path: str) -> None:
        below = [path]
        files: list[str] = []
        while below:
            for status in self.inner.list(below.pop()):
                (below if status.is_dir else files).append(status.path)
        for file in sorted(files)[: (len(files) + 1) // 2]:
            self.inner.delete(file)


class _RecordedBytes(io.BytesIO):
    """A buffer whose content outlives `close`, which writers of file formats call."""

    def close(self) -> None:
        self.flush()
