"""The queue of a ZooKeeper lock while servers are lost and come back: a client that answers like kazoo's, by the names of its errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from pyhudi.locks import zookeeper_node
from pyhudi.locks.zookeeper_node import LockNode


class ConnectionLoss(Exception):
    pass


class SessionExpiredError(Exception):
    pass


class KazooTimeoutError(Exception):
    pass


class AuthFailedError(Exception):
    pass


@dataclass
class Answer:
    call: Callable[[], Any]
    never: bool

    def get(self, timeout: float) -> Any:
        if self.never:
            time.sleep(timeout)
            raise KazooTimeoutError
        return self.call()


@dataclass
class Client:
    """Nodes by their names; `faults` are what the next calls end in, None for an answer, `HANG` for none at all."""

    nodes: list[str] = field(default_factory=list)
    faults: list[type[Exception] | str | None] = field(default_factory=list)
    is_lost_after: bool = False
    connected: bool = True
    number: int = 10

    def _answer(self, effect: Callable[[], Any]) -> Answer:
        fault = self.faults.pop(0) if self.faults else None
        if fault == "hang":
            self.faults.insert(0, fault)
            return Answer(effect, never=True)

        def call() -> Any:
            if isinstance(fault, type) and self.is_lost_after:
                effect()
            if isinstance(fault, type):
                raise fault
            return effect()

        return Answer(call, never=False)

    def create_async(self, path: str, _data: bytes, **_named: Any) -> Answer:
        def create() -> str:
            self.number += 1
            self.nodes.append(f"{path.rpartition('/')[2]}{self.number:010}")
            return f"/l/{self.nodes[-1]}"

        return self._answer(create)

    def get_children_async(self, _path: str) -> Answer:
        return self._answer(lambda: list(self.nodes))

    def exists_async(self, path: str, watch: object = None) -> Answer:
        return self._answer(lambda: path if path.rpartition("/")[2] in self.nodes else None)

    def get_async(self, _path: str) -> Answer:
        return self._answer(lambda: (b"", None))

    def delete_async(self, path: str) -> Answer:
        return self._answer(lambda: self.nodes.remove(path.rpartition("/")[2]))


OTHER = "_c_other-lock-0000000001"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_node, "_PAUSE_S", 0.01)
    monkeypatch.setattr(zookeeper_node, "_LOOK_AGAIN_S", 0.02)


def wait(client: Client, seconds: float) -> bool:
    return LockNode(client, "/l", "/t", 0.1).wait_for_turn(time.monotonic() + seconds)


def test_server_that_never_answers_ends_the_wait_when_its_time_is_over() -> None:
    began = time.monotonic()
    with pytest.raises(KazooTimeoutError):
        wait(Client([OTHER], [None, None, None, "hang"]), 0.2)
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("calls", range(3))
@pytest.mark.parametrize("is_done", [False, True], ids=["refused", "answer lost"])
def test_connection_that_is_lost_and_made_again_costs_no_lock(calls: int, is_done: bool) -> None:
    client = Client([], [*[None] * calls, ConnectionLoss, ConnectionLoss], is_lost_after=is_done)
    assert wait(client, 0.5)


def test_node_that_another_holder_leaves_without_a_notice_is_noticed() -> None:
    client = Client([OTHER])
    node = LockNode(client, "/l", "/t", 0.1)
    assert not node.wait_for_turn(time.monotonic())
    client.nodes.remove(OTHER)
    assert node.wait_for_turn(time.monotonic() + 0.5)


def test_session_that_ends_while_it_waits_queues_again() -> None:
    client = Client([OTHER])
    node = LockNode(client, "/l", "/t", 0.1)
    assert not node.wait_for_turn(time.monotonic())
    client.nodes.clear()
    client.faults = [SessionExpiredError]
    assert node.wait_for_turn(time.monotonic() + 0.5)
    assert len(client.nodes) == 1
    assert node.exists()


def test_what_does_not_pass_is_raised_at_once() -> None:
    with pytest.raises(AuthFailedError):
        wait(Client([], [AuthFailedError]), 60)


def test_lock_is_held_over_a_lost_connection_and_in_doubt_not() -> None:
    client = Client([])
    node = LockNode(client, "/l", "/t", 0.1)
    assert node.wait_for_turn(time.monotonic())
    client.faults = [ConnectionLoss]
    assert node.exists()
    for fault in ("hang", SessionExpiredError):
        client.faults = [fault]
        assert not node.exists()
    client.faults = []
    client.nodes.clear()
    assert not node.exists()
