"""Reads policy files: YAML, JSON and TOML."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Hashable
from typing import Any

import yaml

from pyhudi.errors import OptionError
from pyhudi.storage.named_files import read_named_text


def load_policy_file(path: str) -> object:
    """Return what a policy file states; its ending says which format it has, `.json`, `.toml`, or YAML.

    Raises:
        UsageError: it cannot be read.
        OptionError: it is not well-formed; the message names the line.
    """
    text = read_named_text(path, "policy file")
    try:
        if path.endswith(".json"):
            return json.loads(text)
        return tomllib.loads(text) if path.endswith(".toml") else parse_yaml(text)
    except ValueError as error:
        raise OptionError(f"the policy file {path} is not well-formed: {error}") from error


def parse_yaml(text: str) -> object:
    """Return the value that a document states, an empty mapping for one that states none.

    Raises:
        ValueError: it is not well-formed, or states a key twice; the message names the line.
    """
    try:
        value = yaml.load(text, _Loader)  # noqa: S506 - the class is a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ValueError(f"line {mark.line + 1 if mark else 1}: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    return {} if value is None else value


class _Loader(yaml.SafeLoader):
    """Makes plain values only, and refuses a key that is stated twice, of which PyYAML would take the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        visited = set[str]()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in visited:
                raise yaml.constructor.ConstructorError(None, None, f"'{key.value}' is stated twice", key.start_mark)
            visited.add(key.value)
        return super().construct_mapping(node, deep=deep)
