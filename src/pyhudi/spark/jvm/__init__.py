"""Access to the JVM of a session: py4j calls, patches of PySpark, translation of errors, types and column expressions.

It imports no other folder of `spark`.
"""
