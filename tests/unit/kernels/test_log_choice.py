"""Which blocks of a slice's logs count."""

from __future__ import annotations

from typing import Any

from pyhudi.kernels.log_file.visible_blocks import choose_blocks
from pyhudi.spec.files.log_block import ROLLBACK_COMMAND, BlockHeader, BlockType, LogBlock
from pyhudi.spec.visibility import Visibility

NOW = Visibility(frozenset({"t1", "t2", "t3", "t5", "t6"}), archive_boundary="t0")


def block(instant: str, kind: BlockType = BlockType.AVRO, name: str = "", **header: Any) -> LogBlock:
    return LogBlock(name, kind, BlockHeader(instant=instant, **header), 0, 0, 0, 0)


def rollback(instant: str, target: str) -> LogBlock:
    return block(instant, BlockType.COMMAND, target_instant=target, command=ROLLBACK_COMMAND)


def compacted(instant: str, *replaces: str) -> LogBlock:
    return block(instant, replaces=replaces)


def chosen(*blocks: LogBlock, visibility: Visibility = NOW, layout: int = 1) -> list[str | None]:
    return [one.header.instant for one in choose_blocks(blocks, visibility, layout)]


def test_before_version_8_a_block_counts_when_its_instant_is_committed() -> None:
    assert chosen(block("t1"), block("t4"), block("t5")) == ["t1", "t5"]


def test_from_version_8_on_the_files_of_a_slice_were_chosen_before() -> None:
    names = {instant: f"p/.a-0_{instant.replace('t', '2026')}.log.1_0-0-0" for instant in ("t1", "t4")}
    blocks = [block(instant.replace("t", "2026"), name=name) for instant, name in names.items()]
    assert chosen(*blocks, layout=2) == ["20261", "20264"]


def test_from_version_8_on_a_block_of_a_file_named_by_its_slice_counts_when_its_instant_is_committed() -> None:
    """An upgrade from version 6 leaves such files."""
    blocks = [block(instant, name="p/.a-0_20261.log.1_0-0-0") for instant in ("20261", "t2", "t4")]
    assert chosen(*blocks, layout=2) == ["20261", "t2"]


def test_a_block_of_an_archived_instant_counts() -> None:
    assert chosen(block("s9"), block("t1")) == ["s9", "t1"]


def test_a_block_after_the_time_of_the_query_does_not_count() -> None:
    then = Visibility(frozenset({"t1", "t2"}), archive_boundary="t0", until="t2")
    assert chosen(block("t1"), block("t3"), visibility=then) == ["t1"]


def test_a_rollback_rolls_back_all_blocks_of_its_target_that_stand_before_it() -> None:
    blocks = (block("t2"), block("t1"), block("t2", BlockType.DELETE), rollback("t3", "t2"), block("t5"))
    assert chosen(*blocks) == ["t1", "t5"]


def test_a_rollback_leaves_what_its_target_wrote_afterwards() -> None:
    assert chosen(rollback("t3", "t2"), block("t2")) == ["t2"]


def test_a_rollback_later_than_the_query_counts() -> None:
    """HUDI-8248: the failed write's instant looks completed to a reader that knows nothing of the rollback."""
    then = Visibility(frozenset({"t1", "t5"}), archive_boundary="t0", until="t5")
    assert chosen(block("t1"), block("t5"), rollback("t6", "t5"), visibility=then) == ["t1"]


def test_a_rollback_without_target_changes_nothing() -> None:
    assert chosen(block("t1"), rollback("t3", "t2")) == ["t1"]


def test_blocks_of_two_attempts_with_equal_counts_are_all_kept() -> None:
    """HUDI-6758: counting blocks to tell attempts apart dropped rows that were in one of them only."""
    blocks = (block("t1", attempt="0,0"), block("t1", attempt="0,1"), block("t1", attempt="1,0"), block("t1", attempt="1,1"))
    assert choose_blocks(blocks, NOW, 1) == list(blocks)


def test_damaged_blocks_and_change_logs_are_left_out() -> None:
    assert chosen(block("t1", BlockType.CORRUPT), block("t1", BlockType.CDC), block("t2")) == ["t2"]


def test_a_log_compaction_stands_where_the_newest_of_its_blocks_stood() -> None:
    blocks = (block("t1"), block("t2"), block("t3"), block("t5"), compacted("t6", "t1", "t2"))
    assert chosen(*blocks) == ["t6", "t3", "t5"]


def test_a_log_compaction_of_log_compactions_stands_for_all() -> None:
    blocks = (block("t1"), block("t2"), compacted("t3", "t1", "t2"), block("t5"), compacted("t6", "t3", "t5"))
    assert chosen(*blocks) == ["t6"]


def test_a_log_compaction_whose_blocks_are_in_the_base_file_counts_for_nothing() -> None:
    assert chosen(block("t5"), compacted("t6", "t1", "t2")) == ["t5"]


def test_all_blocks_of_a_log_compaction_count_in_their_order() -> None:
    joined = [block("t3", replaces=("t1",), name="a"), block("t3", BlockType.DELETE, replaces=("t1",), name="b")]
    assert [one.path for one in choose_blocks([block("t1"), *joined], NOW, 1)] == ["a", "b"]
