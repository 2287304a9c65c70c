"""`pyhudi services run`, and the files of its policies."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli import services_command
from pyhudi.cli.main import main
from pyhudi.cli.policy_file import parse_yaml
from pyhudi.table.runner.service_policy import parse_policy
from pyhudi.table.table_services import Services
from tests.docs.pages import ROOT

SCHEMA = pa.schema({"id": pa.int64()})

YAML = """
# every ten minutes
interval: 10m
services: [clean, "archive"]
options:
  hoodie.clean.commits.retained: 10  # commits
  'hoodie.metadata.enable': false
tables:
- /data/a#b
- path: "/data/b: c"
  services:
    - ttl
  options:
    hoodie.partition.ttl.strategy.days.retain: 30
-
  path: /data/d
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["services", "run", *arguments])


@pytest.fixture
def path(tmp_path: Path) -> str:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    table.upsert([{"id": 1}])
    return table.storage.uri


def test_yaml_of_policies() -> None:
    assert parse_yaml(YAML) == {
        "interval": "10m",
        "services": ["clean", "archive"],
        "options": {"hoodie.clean.commits.retained": 10, "hoodie.metadata.enable": False},
        "tables": [
            "/data/a#b",
            {"path": "/data/b: c", "services": ["ttl"], "options": {"hoodie.partition.ttl.strategy.days.retain": 30}},
            {"path": "/data/d"},
        ],
    }
    assert parse_yaml("---\n- 1\n- null\n") == [1, None]
    assert parse_yaml("# nothing\n") == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\n  b: 2\n", "line 2"),
        ("a: 1\na: 2\n", "line 2: 'a' is stated twice"),
        ("a:\n\t- 1\n", "line 2: found character"),
        ("a: *x\n", "line 1: found undefined alias 'x'"),
        ("a: [1, 2\n", "line 2: expected ',' or ']'"),
        ('a: "x\n', "line 2"),
        ("a: b: c\n", "line 1"),
        ("? [1]\n: 2\n", "line 1: found unhashable key"),
        ("a: !!python/name:os.system\n", "line 1: could not determine a constructor"),
        ("a: \x00\n", "unacceptable character"),
        ("a:\n  - 1\n b: 2\n", "line 3"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_yaml(text)


@pytest.mark.parametrize("ending", ["yaml", "json", "toml"])
def test_a_round_over_the_tables_of_a_policy(path: str, tmp_path: Path, ending: str) -> None:
    contents = {
        "yaml": f"interval: 1h\ntables:\n  - path: {path}\n    services: [clean, archive]\n",
        "json": json.dumps({"tables": [{"path": path, "services": ["clean", "archive"]}]}),
        "toml": f'[[tables]]\npath = "{path}"\nservices = ["clean", "archive"]\n',
    }
    policy = tmp_path / f"policy.{ending}"
    policy.write_text(contents[ending])
    done = run("--policy", str(policy), "--once", "--json")
    assert done.exit_code == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["table"], one["service"], one["state"]) for one in lines] == [
        (path, "clean", "nothing to do"),
        (path, "archive", "nothing to do"),
    ]
    assert "1 tables: 2 services looked at, 2 with nothing to do, 0 failed" in done.stderr


def test_one_command_line_serves_without_a_policy(path: str, tmp_path: Path) -> None:
    done = run(path, str(tmp_path / "none"), "--services", "archive")
    assert done.exit_code == 1
    assert f"{path}: archive: nothing to do" in done.stdout
    assert f"{tmp_path / 'none'}: open: failed: there is no Hudi table" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("/a", "--policy", "x"),
        ("--policy", "/none/policy.yaml"),
        ("/a", "--services", "cleen"),
        ("/a", "--interval", "soon"),
        ("/a", "--option", "hoodie.x"),
        ("/a", "--option", "hoodie.clean.policy=NONE"),
    ],
)
def test_wrong_calls_are_told(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_bad_policy_files_are_wrong_calls(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    for text, problem in (
        ("tables: [/a]\ninterval: never\n", "'interval'"),
        ("tables:\n  /a\n", "'tables'"),
        ("/a\n", "the policy must be a mapping"),
        ("x: 1\n", "'x'"),
    ):
        policy.write_text(text)
        done = run("--policy", str(policy))
        assert done.exit_code == 2
        assert problem in done.stderr
    (tmp_path / "policy.json").write_text("{")
    assert run("--policy", str(tmp_path / "policy.json")).exit_code == 2


def test_an_interrupt_ends_between_services_and_rounds(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)

    def interrupt(*_: object, **__: object) -> tuple[()]:
        os.kill(os.getpid(), signal.SIGINT)
        return ()

    monkeypatch.setattr(Services, "clean", interrupt)
    done = run(path, "--services", "clean,archive", "--interval", "1h")
    assert done.exit_code == 130
    assert "clean: nothing to do" in done.stdout
    assert "archive" not in done.stdout
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_comes_in_at_any_step_of_the_pause_ends_it() -> None:
    """Events of `threading` do not: their handler waits for a lock that the interrupted thread holds."""
    signalled: set[str] = set()

    def interrupt(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        step = f"{frame.f_code.co_qualname}:{frame.f_lineno}:{event}"
        if step not in signalled and not stop.is_set:
            signalled.add(step)
            os.kill(os.getpid(), signal.SIGTERM)
        return interrupt

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(10)
    try:
        for _ in range(100):
            count, trace = len(signalled), sys.gettrace()
            with services_command._stop_requests() as stop:
                sys.settrace(interrupt)
                try:
                    stop.wait(0.01)
                finally:
                    sys.settrace(trace)
            if len(signalled) == count:
                break
            assert stop.is_set
        assert len(signalled) > 3
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_the_policy_on_the_page_is_one() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    policy = parse_policy(parse_yaml(page.partition("```yaml\n")[2].partition("```")[0]))
    assert [table.path for table in policy.tables] == ["/data/rides", "/data/users"]
    assert policy.interval_s == 600
