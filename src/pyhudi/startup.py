"""Enabling every Spark session of a process, for scripts that do not call `pyhudi.enable`.

`enable_every_session` is what `pyhudi run` calls. Where the environment variable `PYHUDI_ENABLE` is set, an interpreter calls it when it
starts (`pyhudi.pth`), so that notebooks and jobs of a cluster need no change. PySpark is not imported before the script imports it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import os
import sys
from collections.abc import Sequence
from functools import wraps
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

#: Values of the variable that leave sessions as they are.
_OFF: Final = ("", "0", "false", "no", "off")
VARIABLE: Final = "PYHUDI_ENABLE"
_MODULE: Final = "pyspark.sql.session"
_MARK: Final = "_enables_pyhudi"


def enable_if_asked() -> None:
    """Enable every session when the environment variable `PYHUDI_ENABLE` says so: any value but `0`, `false`, `no`, `off` and none."""
    if os.environ.get(VARIABLE, "").lower() not in _OFF:
        enable_every_session()


def enable_every_session() -> None:
    """Let each `SparkSession` that this process builds, or makes of a `SparkContext`, from now on speak Hudi, as if its builder had been
    given to `pyhudi.enable`.

    Spark Connect clients stay as they are. Harmless when done before.
    """
    module = sys.modules.get(_MODULE)
    if module is not None:
        _patch(module)
    elif not any(isinstance(hook, _SessionImportHook) for hook in sys.meta_path):
        sys.meta_path.insert(0, _SessionImportHook())


def _patch(module: ModuleType) -> None:
    session_class = module.SparkSession
    if getattr(session_class.Builder.getOrCreate, _MARK, False):
        return
    _wrap(session_class.Builder, "getOrCreate", "build_session")
    _wrap(session_class, "__init__", "construct_session")
    context_class = getattr(sys.modules["pyspark"], "SparkContext", None)
    if context_class is not None:
        _wrap(context_class, "__init__", "construct_context")
        _wrap(context_class, "_ensure_initialized", "start_java", of_class=True)


def _wrap(owner: type[Any], name: str, wrapper: str, *, of_class: bool = False) -> None:
    """Let a method of a class of PySpark be called by a function of `pyhudi.sql.enable`, which is imported when it is needed.

    A class method is given to it bound to its class.
    """
    original = getattr(owner, name)

    @wraps(original)
    def method(*arguments: Any, **named: Any) -> Any:
        try:
            call = getattr(importlib.import_module("pyhudi.sql.enable"), wrapper)
        except ImportError:  # of an older PySpark
            importlib.import_module("pyhudi.spark.pyspark_release").check_pyspark("pyhudi")
            raise
        return call(original, *arguments, **named)

    setattr(method, _MARK, True)
    setattr(owner, name, staticmethod(method) if of_class else method)


class _SessionImportHook(importlib.abc.MetaPathFinder):
    """Waits for the import of PySpark's session, and is not asked again afterwards."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return what the other hooks find, with a loader that patches the module when it was loaded."""
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _PatchingLoader(spec.loader)
        return spec


class _PatchingLoader(importlib.abc.Loader):
    """Loads PySpark's session by its own loader, and patches it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module as PySpark's own loader makes it."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and patch it."""
        self._loader.exec_module(module)
        _patch(module)
