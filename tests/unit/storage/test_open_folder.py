"""Folders are opened and closed once, also when Ctrl-C comes in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyhudi.storage import storage_paths


@pytest.mark.parametrize("call", range(3))
def test_ctrl_c_after_a_close_is_raised_and_closes_no_descriptor_again(call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    closed: list[int] = []
    close = os.close

    def interrupted(descriptor: int) -> None:
        close(descriptor)
        closed.append(descriptor)
        if len(closed) == call + 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", interrupted)
    with pytest.raises(KeyboardInterrupt), storage_paths.open_folder(str(tmp_path), ("a", "b")):
        pass
    assert len(closed) >= call + 1
