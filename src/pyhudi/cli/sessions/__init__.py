"""Commands that start Spark sessions: scripts of Apache Hudi run unchanged, a SQL shell, a Thrift server.

They import `shared_arguments` of the folder above, and Spark only when they run.
"""
