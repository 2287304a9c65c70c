"""Variables of SQL scripts: `${name}` in a statement is the value of a setting, of `--hivevar`, or of the environment.

Spark's parser fills them in by itself. Here it is done before, since the parts of a statement are cut out of its text at places that
the parsed statement names.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyhudi.spark.jvm import jvm


def with_variables(session: SparkSession, text: str) -> str:
    """Return the statement that Spark's parser reads: unknown names are empty, as in Spark.

    With `spark.sql.variable.substitute = false` the text stays as it is.

    Example:
        >>> spark.conf.set("name", "rides")
        >>> with_variables(spark, "SELECT * FROM ${name}")
        'SELECT * FROM rides'
    """
    if "${" not in text:
        return text
    # Spark's own substitution looks at the settings of the thread's active session, which may be another one.
    sessions = jvm.jvm(session).org.apache.spark.sql.classic.SparkSession
    active = sessions.getActiveSession()
    sessions.setActiveSession(jvm.jvm_session(session))
    try:
        return str(jvm.class_in(jvm.jvm(session), "org.apache.spark.sql.internal.VariableSubstitution")().substitute(text))
    finally:
        if active.isDefined():
            sessions.setActiveSession(active.get())
