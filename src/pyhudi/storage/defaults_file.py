"""`hudi-defaults.conf`: options that hold for every table unless something else is said.

Rules: `DFSPropertiesConfiguration`. The file is in the folder that HUDI_CONF_DIR names, else in `/etc/hudi/conf`; a line is
`key=value` or `key value`, `#` begins a comment, `include=file` takes another file in. Everything else that states an option takes
precedence: table properties, the session, the call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from pyhudi.errors import HudiError, OptionError
from pyhudi.spec.config.config_keys import concerns_table
from pyhudi.spec.options import resolve, same_key

VARIABLE: Final = "HUDI_CONF_DIR"
_FOLDER: Final = "/etc/hudi/conf"
_NAME: Final = "hudi-defaults.conf"
_INCLUDE: Final = "include"


def default_options() -> dict[str, str]:
    """Return the options of the defaults file, none when there is no such file.

    Raises:
        OptionError: a line is no option, or one that is unknown or not served; names file and line.
    """
    path = Path(os.environ.get(VARIABLE) or _FOLDER) / _NAME
    try:
        changed = path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        if os.environ.get(VARIABLE):
            raise OptionError(f"{VARIABLE} is {os.environ[VARIABLE]}, and there is no {_NAME} in it.") from None
        return {}
    return dict(_load(path, changed))


def default_write_options() -> dict[str, str]:
    """Return the default options of writes to an existing table: its own properties take precedence over those that concern the table."""
    return {name: value for name, value in default_options().items() if not concerns_table(name)}


def default_table_options(*stated: str) -> dict[str, str]:
    """Return the default options of a new table: those that concern it and not a single write, but for the keys `stated`, which the caller
    knows by other means.
    """
    options = {name: value for name, value in default_options().items() if concerns_table(name)}
    return {name: value for name, value in options.items() if not any(same_key(name, key) for key in stated)}


@lru_cache(maxsize=8)
def _load(path: Path, changed: int) -> tuple[tuple[str, str], ...]:  # noqa: ARG001 - a file that changed is read again
    return tuple(dict(_lines(path, ())).items())


def _lines(path: Path, above: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    if path in above:
        raise OptionError(f"{path} includes itself.")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        stated = line.strip()
        if not stated or stated.startswith("#"):
            continue
        name, value = _split(stated)
        if not value and "=" not in stated:
            raise OptionError(f"{path}, line {number}: '{stated}' is no option; write key=value.")
        if name == _INCLUDE:
            yield from _lines(path.parent / value, (*above, path))
            continue
        try:
            resolve({name: value})
        except HudiError as error:
            raise OptionError(f"{path}, line {number}: {error}") from error
        yield name, value


def _split(line: str) -> tuple[str, str]:
    """Return key and value of a line: parted by its first `=`, by blanks when it has none."""
    name, _, value = line.partition("=") if "=" in line else line.replace("\t", " ").partition(" ")
    return name.strip(), value.strip()
