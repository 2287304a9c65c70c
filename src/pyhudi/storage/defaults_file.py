"""`hudi-defaults.conf`: options that hold for every table unless something else is said.

Rules: `DFSPropertiesConfiguration`. A file in Spark's folder of settings counts alone, as it is the first on the JVM's class path;
otherwise that in `/etc/hudi/conf` and that in the folder that HUDI_CONF_DIR names, which takes precedence. A line is `key=value` or
`key value`, `#` begins a comment, `include=file` takes another file in. Everything else that states an option takes precedence: table
properties, the session, the call.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlsplit

from pyhudi.errors import HudiError, OptionError
from pyhudi.spec.config.config_keys import concerns_table
from pyhudi.spec.options import is_none_of_hudis, merge_options, resolve, same_key

_LOG = logging.getLogger("pyhudi.options")
VARIABLE: Final = "HUDI_CONF_DIR"
_SPARK_VARIABLES: Final = {"SPARK_CONF_DIR": ".", "SPARK_HOME": "conf"}
_FOLDER: Final = "/etc/hudi/conf"
_NAME: Final = "hudi-defaults.conf"
_INCLUDE: Final = "include"
_LINE: Final = re.compile(r"(?P<key>[^\s=]+)(\s*=\s*|\s+)(?P<value>.*)")


def default_options() -> dict[str, str]:
    """Return the options of the defaults files, none when there is no such file.

    Raises:
        OptionError: a line is no option, or one that is unknown or not served; names file and line. Or HUDI_CONF_DIR names no folder of
            this machine with the file.
    """
    return merge_options(*(_load(path, changed) for path, changed in _files().items() if changed is not None))


def _files() -> dict[Path, int | None]:
    """Return the files that count, the later over the earlier, with the times of their last changes; None where there is no file."""
    for variable, folder in _SPARK_VARIABLES.items():
        if os.environ.get(variable):
            path = Path(os.environ[variable], folder, _NAME)
            if (changed := _changed(path)) is not None:
                return {path: changed}
            break
    everywhere = Path(_FOLDER, _NAME)
    if not (stated := os.environ.get(VARIABLE)):
        return {everywhere: _changed(everywhere)}
    uri = urlsplit(stated)
    if uri.scheme not in ("", "file"):
        raise OptionError(f"{VARIABLE} is {stated}, and only a folder of this machine is looked into: copy {_NAME} to one.")
    named = Path(unquote(uri.path) if uri.scheme else stated, _NAME)
    if (changed := _changed(named)) is None:
        raise OptionError(f"{VARIABLE} is {stated}, and there is no {_NAME} in it.")
    return {everywhere: _changed(everywhere), named: changed}


def _changed(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None


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
def _load(path: Path, changed: int) -> Mapping[str, str]:  # noqa: ARG001 - a file that changed is read again
    lines = list(_lines(path, ()))
    options = {name: value for _, name, value in lines}
    for line, name, _ in lines:
        if is_none_of_hudis(name, options):
            _LOG.warning("%s: '%s' has no effect: it is none of Hudi's options", line, name)
    return MappingProxyType(options)


def _lines(path: Path, above: tuple[Path, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield file and number, name and value of each line that is an option."""
    if path in above:
        raise OptionError(f"{path} includes itself.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        stated = line.strip()
        if not stated or stated.startswith("#"):
            continue
        parts = _LINE.fullmatch(stated)
        if parts is None:
            raise OptionError(f"{path}, line {number}: '{stated}' is no option; write key=value.")
        name, value = parts["key"], parts["value"]
        if name == _INCLUDE:
            yield from _lines(path.parent / value, (*above, path))
            continue
        try:
            resolve({name: value})
        except HudiError as error:
            raise OptionError(f"{path}, line {number}: {error}") from error
        yield f"{path}, line {number}", name, value
