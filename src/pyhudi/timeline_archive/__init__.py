"""The archived timeline as rows: timelines that include archived instants, and the writer of archive files.

It reads and writes Parquet with `kernels`; `timeline` below it knows only names and times.
"""
