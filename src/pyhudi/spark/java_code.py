"""The one Java class of pyhudi, put into the JVM of a Spark session: the source name `hudi` and the rule of the analyzer behind it.

The class is shipped as text (`java/hudi/DefaultSource.java`) and compiled by Janino, the compiler with which Spark itself compiles the code
that it generates: no build step, no Scala, no JDK, and always against the Spark that runs. It is defined in the class loader of Spark's
own classes, because Spark looks a source up by name through whatever loader its current thread has.
Design: docs/design/0031-tables-inside-the-jvm.md.
"""

from __future__ import annotations

from importlib import resources

from py4j.clientserver import ClientServer
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from pyhudi.errors import UnsupportedError
from pyhudi.spark import jvm
from pyhudi.spark.jvm import JavaObject

SOURCE = "hudi.DefaultSource"
_BYTES = "[B"


def install(session: SparkSession, resolver: object) -> None:
    """Let a session, and all that Spark makes from it later on, ask Python for the plans of Hudi tables.

    Args:
        session: A classic session.
        resolver: Implements `hudi.DefaultSource.Resolver`.

    Raises:
        UnsupportedError: the JVM does not accept the class, or PySpark runs without pinned threads.
    """
    gateway = _gateway(session)
    if not isinstance(gateway, ClientServer):
        raise UnsupportedError(
            "pyhudi needs PySpark's pinned threads, since it answers the JVM on the thread that asked: leave out PYSPARK_PIN_THREAD=false."
        )
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    java = jvm.jvm_session(session)
    loader = java.getClass().getClassLoader()
    if not _is_defined(loader):
        try:
            _define(session, loader)
        except Py4JJavaError as error:
            raise UnsupportedError(
                f"Spark's JVM does not accept pyhudi's class {SOURCE}, without which names of Hudi tables cannot be resolved:"
                f" {error.java_exception}. Start Spark by its own scripts, which open java.base/java.lang to it (--add-opens)."
            ) from error
    source(session).install(java, resolver)


def source(session: SparkSession) -> JavaObject:
    """Return the class, whose static methods are what Python asks of it."""
    return jvm.java_class(session, SOURCE)


def session_of(context: SparkContext, identity: str) -> JavaObject | None:
    """Return the JVM's session of an id; None when it is gone."""
    found: JavaObject | None = jvm.class_in(context._jvm, SOURCE).session(identity)  # noqa: SLF001 - no public name
    return found


def _is_defined(loader: JavaObject) -> bool:
    try:
        loader.loadClass(SOURCE)
    except Py4JJavaError:
        return False
    return True


def _define(session: SparkSession, loader: JavaObject) -> None:
    compiler = jvm.java_class(session, "org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(loader)
    compiler.cook(resources.files("pyhudi.spark").joinpath("java/hudi/DefaultSource.java").read_text("utf-8"))
    codes = compiler.getBytecodes()
    java_lang = jvm.java_class(session, "java.lang.Class")
    integer = jvm.java_class(session, "java.lang.Integer").TYPE
    types = _array(session, "Class", java_lang.forName("java.lang.String"), java_lang.forName(_BYTES), integer, integer)
    define = java_lang.forName("java.lang.ClassLoader").getDeclaredMethod("defineClass", types)
    define.setAccessible(True)
    # Superclasses and interfaces are looked up while a class is defined; none of these extends another of them.
    for name in codes.keySet().toArray():
        code = codes.get(name)
        define.invoke(loader, _array(session, "Object", name, code, 0, len(code)))


def _gateway(session: SparkSession) -> JavaObject:
    return session.sparkContext._gateway  # noqa: SLF001 - no public name


def _array(session: SparkSession, kind: str, *items: object) -> JavaObject:
    made = _gateway(session).new_array(jvm.java_class(session, f"java.lang.{kind}"), len(items))
    for number, item in enumerate(items):
        made[number] = item
    return made
