"""Markers name the data file that they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.spec.files.marker import Marker, MarkerType, marker_folder, marker_path, parse_marker


@given(st.from_regex(r"[a-z=/.]{1,20}\.parquet", fullmatch=True), st.sampled_from(MarkerType))
def test_a_marker_leads_back_to_its_data_file(data_path: str, kind: MarkerType) -> None:
    path = marker_path("20260101000000000", data_path, kind)
    assert parse_marker(path) == Marker(data_path, kind)
    assert parse_marker(path.removeprefix(marker_folder("20260101000000000") + "/")) == Marker(data_path, kind)


@pytest.mark.parametrize("path", ["", "a.parquet", "a.parquet.marker", "a.parquet.marker.DELETE", ".marker.CREATE"])
def test_other_names_are_no_markers(path: str) -> None:
    assert parse_marker(path) is None
