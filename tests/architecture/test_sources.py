"""Time, chance, files and foreign code enter through named doors only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.import_graph import imported_names, modules, package_of, syntax

# Where the outside world is asked, and why it may be.
CLOCKS_AND_IDS = {
    "pyhudi.timeline.clock": "the system clock",
    "pyhudi.txn.ids": "ids of new files and writes",
    "pyhudi.locks.holder": "ids of holders of locks",
    "pyhudi.storage.remote.repeated_requests": "ids of requests that create a file",
}
OPENS_FILES = {"storage", "examples", "cli"}
STARTS_PROCESSES = {"pyhudi.examples.change_data": "pyhudi's own command line"}

AMBIENT = re.compile(
    r"(datetime\.)?datetime\.(now|utcnow|today)|(datetime\.)?date\.today|time\.(time|time_ns|gmtime|localtime)"
    r"|(uuid\.)?uuid[14]|random\.\w+|secrets\.\w+|os\.urandom"
)
FILE_ACCESS = re.compile(
    r"open|(io|os|gzip|bz2|lzma|codecs)\.open|(pathlib\.)?Path\(.*\)\.\w+"
    r"|os\.(remove|unlink|rename|replace|link|symlink|mkdir|makedirs|rmdir|listdir|scandir|walk|stat|truncate)"
    r"|os\.path\.(exists|isfile|isdir|getsize)|shutil\.\w+|tempfile\.\w+"
)
RUNS_TEXT = re.compile(r"eval|exec|compile|__import__|os\.system|os\.popen|subprocess\.\w+")
UNSAFE_READERS = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}


def calls(module: str) -> Iterator[tuple[str, int]]:
    """The text of what each call of a module calls, and its line."""
    for node in ast.walk(syntax(module)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


def matching(pattern: re.Pattern[str], module: str) -> list[str]:
    return [f"{module}:{line} {called}" for called, line in calls(module) if pattern.fullmatch(called)]


def test_time_and_chance_come_from_injected_sources() -> None:
    others = [module for module in modules() if module not in CLOCKS_AND_IDS]
    assert [hit for module in others for hit in matching(AMBIENT, module)] == []


def test_only_the_storage_layer_opens_files() -> None:
    others = [module for module in modules() if package_of(module) not in OPENS_FILES]
    assert [hit for module in others for hit in matching(FILE_ACCESS, module)] == []


def test_no_text_is_run_as_code() -> None:
    others = [module for module in modules() if module not in STARTS_PROCESSES]
    assert [hit for module in others for hit in matching(RUNS_TEXT, module)] == []


def test_no_reader_is_used_that_runs_what_it_reads() -> None:
    users = [module for module in modules() for name, _ in imported_names(module) if name.split(".")[0] in UNSAFE_READERS]
    assert users == []
