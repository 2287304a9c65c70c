"""RUN COMPACTION, SCHEDULE COMPACTION and SHOW COMPACTION: the older way to call the procedures, which Spark's parser refuses.

Rule: `compactionStatement` of Hudi's grammar (`HoodieSqlCommon.g4`).
"""

from __future__ import annotations

from pyhudi.errors import UsageError
from pyhudi.sql.text.tokens import name_at, quote, slice_text, text_literal, tokenize

_TAIL = {"SHOW": ("LIMIT", "limit"), "RUN": ("AT", "timestamp"), "SCHEDULE": ("AT", "timestamp")}


def as_call(text: str) -> str | None:
    """Return the CALL that a text about compactions stands for; None for any other text.

    Example:
        >>> as_call("SCHEDULE COMPACTION ON db.trips")
        "CALL run_compaction(op => 'schedule', table => '`db`.`trips`')"
        >>> as_call("SHOW COMPACTION ON '/data/trips' LIMIT 5")
        "CALL show_compaction(path => '/data/trips', limit => 5)"
    """
    try:
        tokens = tokenize(text)
    except UsageError:
        return None
    if len(tokens) < 4 or not (tokens[0].is_word(*_TAIL) and tokens[1].is_word("COMPACTION") and tokens[2].is_word("ON")):
        return None
    verb = tokens[0].text.upper()
    if tokens[3].text[0] in "'\"":
        arguments, at = [f"path => {tokens[3].text}"], 4
    else:
        name = name_at(tokens, 3)
        arguments, at = [f"table => {text_literal('.'.join(map(quote, name)))}"], 2 * len(name) + 2
    word, argument = _TAIL[verb]
    rest = tokens[at:]
    if rest and not (len(rest) == 2 and rest[0].is_word(word) and rest[1].text.isdigit()):
        return None
    arguments += [f"{argument} => {slice_text(text, rest[1:])}"] if rest else []
    if verb == "SHOW":
        return f"CALL show_compaction({', '.join(arguments)})"
    return f"CALL run_compaction(op => '{verb.lower()}', {', '.join(arguments)})"
