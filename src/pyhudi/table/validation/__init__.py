"""Pre-commit validators: checks of the state that a write would make, after its files are written and before it is visible.

- `query_columns`: the columns that queries name
- `query_runner`: where the queries of SQL validators run
- `sql_validators`: Hudi's three validators
- `staged_rows`: the rows before and after a write, of the partitions that it touches
- `run_validators`: runs the validators of a write
"""
