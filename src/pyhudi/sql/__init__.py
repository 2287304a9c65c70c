"""SQL on Hudi tables: Spark parses and analyzes, pyhudi answers (docs/design/0030-sql.md)."""
