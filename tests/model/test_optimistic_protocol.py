"""Which settings of the protocol are safe, by all their states; pyhudi's is safe (docs/design/0194-a-model-of-several-writers.md)."""

from __future__ import annotations

import itertools

import pytest

from tests.model.optimistic_protocol import CHECKED, EXPIRES, Protocol, Size, explore

SMALL = Size(keys=2, groups=2, operations=2)
#: Of `make test-slow`, with deletes.
SLOW = [Size(1, 2, 3, deletes=True), Size(2, 1, 3, deletes=True), Size(2, 2, 3, deletes=True)]
#: What pyhudi's writers rely on with `optimistic_concurrency_control`.
OURS = Protocol(lease=CHECKED)
CONTROLS = ("none", "optimistic", "pessimistic")
SETTINGS = [Protocol(*one) for one in itertools.product((True, False), CONTROLS, (True, False), (True, False), (True, False))]


def is_safe(protocol: Protocol) -> bool:
    """Return what the table of the design note says."""
    has_unique_names = protocol.monotonic or protocol.put_if_absent or protocol.salt
    return has_unique_names and protocol.control != "none" and protocol.key_check


def name_of(protocol: Protocol) -> str:
    parts = ("monotonic" if protocol.monotonic else "local", protocol.control, "keys" if protocol.key_check else "")
    return " ".join((*parts, "if-absent" if protocol.put_if_absent else "", "salt" if protocol.salt else ""))


@pytest.mark.parametrize("protocol", SETTINGS, ids=name_of)
def test_a_setting_is_as_safe_as_the_table_says(protocol: Protocol) -> None:
    verdict = explore(protocol, SMALL)
    assert (not verdict.anomaly) is is_safe(protocol), verdict


@pytest.mark.slow
@pytest.mark.parametrize("size", SLOW, ids=str)
@pytest.mark.parametrize("protocol", [OURS, *filter(is_safe, SETTINGS)], ids=name_of)
def test_safe_settings_are_safe_with_more_operations(protocol: Protocol, size: Size) -> None:
    verdict = explore(protocol, size)
    assert not verdict.anomaly, verdict


def test_our_setting_is_safe() -> None:
    assert not explore(OURS, SMALL).anomaly


@pytest.mark.parametrize("control", ["optimistic", "pessimistic"])
def test_a_lock_that_expires_unnoticed_loses_an_update(control: str) -> None:
    verdict = explore(Protocol(control=control, salt=True, lease=EXPIRES), SMALL)
    assert "expires" in " ".join(verdict.trace), verdict


@pytest.mark.parametrize("control", ["optimistic", "pessimistic"])
def test_a_fixed_group_for_each_key_replaces_the_key_check(control: str) -> None:
    protocol = Protocol(control=control, key_check=False, fixed_groups=True)
    assert not explore(protocol, SMALL).anomaly
