"""How many bytes a row will take in a base file, by encoding some of them in memory."""

from __future__ import annotations

_SAMPLE_ROWS = 10_000
