"""The public surface: what `pyhudi` exports, and the methods of the classes that people hold in their hands."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from typing import Any

import pandas
import polars

import pyhudi
from pyhudi import errors
from pyhudi.table.inspect.inspect_table import Inspect
from pyhudi.table.scan.table_scan import TableScan
from pyhudi.table.table_services import Services

#: Reached by `table.services` and `table.inspect`, not by a name of `pyhudi`.
CLASSES = (pyhudi.HudiTable, pyhudi.MergeBuilder, TableScan, Services, Inspect)


def exported() -> dict[str, Any]:
    """What `pyhudi` exports, by name, but for modules and texts."""
    objects = {name: getattr(pyhudi, name) for name in pyhudi.__all__}
    return {name: result for name, result in objects.items() if inspect.isclass(result) or inspect.isfunction(result)}


def all_errors() -> dict[str, type[errors.HudiError]]:
    """The classes of `pyhudi.errors`."""
    return {name: error for name, error in inspect.getmembers(errors, inspect.isclass) if issubclass(error, errors.HudiError)}


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class, as functions."""
    parts = [part for part in cls.__mro__ if part is cls or part.__module__.startswith("pyhudi.table.")]
    for name, result in ((name, result) for part in parts for name, result in vars(part).items()):
        if name.startswith("_"):
            continue
        if isinstance(result, property):
            yield name, result.fget
        elif isinstance(result, classmethod | staticmethod):
            yield name, result.__func__
        elif inspect.isfunction(result):
            yield name, result


def result_type(function: Any) -> Any:
    """The type that a function says it returns; those of packages that only some calls need are resolved, too."""
    return typing.get_type_hints(function, localns={"pd": pandas, "pl": polars}).get("return")
