"""The format's values and rules, without input or output.

Versions, instants, names of files, file groups, payloads of actions, `hoodie.*` keys. Everything is a frozen value or a pure function.
`spec/config/` is the table of keys, `spec/table_features.py` the one place that says what a table may ask of readers and writers.
"""
