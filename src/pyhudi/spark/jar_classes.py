"""Classes of Apache Hudi that scripts name through py4j, such as `sc._jvm.org.apache.hudi.QuickstartUtils`: there is no jar that has them.

What the quick start needs is served from Python; any other is refused by name, where py4j would give an object that cannot be called.
"""

from __future__ import annotations

from typing import Any, Final

from py4j.java_gateway import JavaPackage, JVMView

from pyhudi.errors import UnsupportedError
from pyhudi.spark.input.quickstart_utils import QuickstartUtils
from pyhudi.spark.jvm.patches import Hook, replace_method

_PACKAGE: Final = "org.apache.hudi"
_SERVED: Final = {f"{_PACKAGE}.QuickstartUtils": QuickstartUtils}
#: By the names that py4j's `java_import` gives them.
_IMPORTED: Final = {"QuickstartUtils": QuickstartUtils, "DataGenerator": QuickstartUtils.DataGenerator}


def install() -> None:
    """Answer these names, until Spark's methods are put back."""
    replace_method(JavaPackage, "__getattr__", _member)
    replace_method(JVMView, "__getattr__", _imported)


def _member(package: JavaPackage, original: Hook, name: str) -> Any:
    full_name = f"{package._fqn}.{name}"  # noqa: SLF001 - said nowhere else
    if not full_name.startswith(f"{_PACKAGE}.") or not name[:1].isupper():
        return original(package, name)
    if full_name in _SERVED:
        return _SERVED[full_name]
    raise UnsupportedError(
        f"{full_name} is a class of Apache Hudi's jar, and pyhudi works without it. Write keys of options as text"
        " ('hoodie.datasource.write.operation'); pyhudi.HudiTable.open(path) has what its helpers and clients do, such as history()."
    )


def _imported(view: JVMView, original: Hook, name: str) -> Any:
    """Answer a name without its package; py4j takes one that no class of the JVM has for a package."""
    member = original(view, name)
    return _IMPORTED.get(name, member) if isinstance(member, JavaPackage) else member
