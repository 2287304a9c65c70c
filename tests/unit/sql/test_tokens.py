"""The tokenizer: clauses of a statement are found where Spark's lexer would see them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import UsageError
from pyhudi.sql.text.tokens import find_word, name_at, name_part, quote, slice_text, split, tokenize


def strings(sql: str) -> list[str]:
    return [token.text for token in tokenize(sql)]


def test_comments_and_white_space_are_left_out():
    assert strings("SELECT -- one\n a /* two /* nested */ still */ , b") == ["SELECT", "a", ",", "b"]


def test_a_hint_is_part_of_the_statement():
    assert strings("SELECT /*+ BROADCAST(t) */ 1")[1:4] == ["/", "*", "+"]


@pytest.mark.parametrize(
    "literal",
    ["'it''s'", r"'it\'s'", '"WHERE"', "'-- no comment'", "'/* none */'", "r'C:\\'", "`a``b`", "'line\nbreak'"],
)
def test_a_quoted_text_is_one_token(literal):
    assert strings(f"a = {literal}, b") == ["a", "=", literal, ",", "b"]


@pytest.mark.parametrize("text", ["SELECT 'open", "SELECT `open", "SELECT /* open"])
def test_an_open_quote_or_comment_is_a_usage_error(text):
    with pytest.raises(UsageError, match="position 7"):
        tokenize(text)


def test_a_trailing_semicolon_is_not_part_of_the_statement():
    assert strings("SELECT 1 ; ;") == ["SELECT", "1"]


def test_a_word_inside_brackets_or_quotes_is_not_found():
    tokens = tokenize("UPDATE t SET a = (SELECT 1 WHERE true), b = 'WHERE' WHERE c")
    word = find_word(tokens, "WHERE")
    assert word is not None
    assert tokens[word + 1].text == "c"


def test_split_cuts_only_outside_brackets():
    tokens = tokenize("a = f(1, 2), b = m[1, 2], c = 3")
    assert [part[0].text for part in split(tokens, ",")] == ["a", "b", "c"]


def test_a_slice_keeps_the_text_as_it_was_written():
    text = "DELETE FROM t  WHERE /* why */ a='x' ;"
    assert slice_text(text, tokenize(text)[3:]) == "WHERE /* why */ a='x'"


def test_words_are_compared_without_case():
    assert find_word(tokenize("insert into t"), "INTO") == 1


def test_characters_outside_the_basic_plane_count_once():
    text = "SELECT '🦊' , a"
    assert tokenize(text)[-1].start == text.index("a")


@pytest.mark.parametrize(("text", "parts"), [("t", ("t",)), ("db . `a``b` USING x", ("db", "a`b")), ("c.d.t", ("c", "d", "t"))])
def test_a_name_is_read_with_its_parts(text, parts):
    assert name_at(tokenize(text), 0) == parts


@given(st.text(min_size=1))
def test_a_quoted_name_reads_back(name):
    (token,) = tokenize(quote(name))
    assert name_part(token) == name


@given(st.lists(st.sampled_from(["a", "'x y'", "`q``q`", "(", ")", ",", "=", "1", "-- c\n", "/* d */", " "])))
def test_tokens_stand_where_they_say(file_slices):
    text = " ".join(file_slices)
    for token in tokenize(text):
        assert text[token.start : token.end] == token.text
