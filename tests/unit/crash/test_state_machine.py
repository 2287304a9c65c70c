"""A table's random life, against a dictionary."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from pyhudi.testing.state_machine import table_machine
from tests.unit.crash.tables import DRIVER

TestRides = table_machine(DRIVER).TestCase
TestRides.settings = settings(
    max_examples=25, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
