"""Which log blocks of a slice count."""

from __future__ import annotations

import pytest

from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table.log_blocks import counting_blocks
from pyhudi.spec.log_block import BlockHeader, BlockType, LogBlock
from pyhudi.spec.visibility import Visibility

COMMITTED = Visibility(frozenset("123456"), origin="1")


def block(instant: str, kind: BlockType = BlockType.HFILE, **header) -> LogBlock:
    return LogBlock("f", kind, BlockHeader(instant=instant, **header), 0, 0, 0, 0)


def instants(*blocks: LogBlock) -> list[str | None]:
    return [counting.header.instant for counting in counting_blocks(blocks, COMMITTED)]


def test_blocks_of_instants_that_are_not_committed_are_left_out() -> None:
    assert instants(block("1"), block("9"), block("2", BlockType.DELETE)) == ["1", "2"]


def test_rollback_takes_back_what_stands_before_it_and_no_more() -> None:
    rollback = block("5", BlockType.COMMAND, target_instant="2")
    assert instants(block("1"), block("2"), rollback, block("2")) == ["1", "2"]


def test_damaged_stretch_is_passed_over() -> None:
    assert instants(block("1"), LogBlock("f", BlockType.CORRUPT, BlockHeader(), 0, 0, 0, 0), block("2")) == ["1", "2"]


def test_block_of_a_log_compaction_stands_in_place_of_those_it_replaces() -> None:
    compacted = block("4", replaces=("1", "2"))
    assert instants(block("1"), block("2"), block("3"), compacted, block("5")) == ["4", "3", "5"]


def test_block_of_rows_in_another_format_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="PARQUET"):
        instants(block("1", BlockType.PARQUET))
