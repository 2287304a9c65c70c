"""SET of a `hoodie.*` key: Spark keeps it, and it is shown at once what the statements that use it will say. SET of a catalog
takes no class of Apache Hudi, which Spark cannot load. RESET clears settings only.
"""

from __future__ import annotations

import logging
import re
from typing import Final

from pyspark.sql import DataFrame

from pyhudi.errors import HudiError
from pyhudi.spark.enabled_sessions import is_enabled
from pyhudi.spark.options.jar_settings import catalog_key
from pyhudi.spark.options.start_settings import stated_without_jar
from pyhudi.spec.options import resolve
from pyhudi.sql.statement.statement import Statement

_log = logging.getLogger("pyhudi.options")
_HUDI: Final = re.compile(r"\s*SET\s+(?:spark\.)?(hoodie\.[\w.\-]+)\s*=\s*(.*?)\s*;?\s*", re.IGNORECASE | re.DOTALL)
_CATALOG: Final = re.compile(rf"\s*SET\s+({re.escape(catalog_key(''))}\w+)\s*=\s*(.*?)\s*;?\s*", re.IGNORECASE | re.DOTALL)


def run_set(statement: Statement) -> DataFrame | None:
    """Log a warning when a key of Hudi is unknown, not served, or cannot have the value; None where Spark runs the statement as it is."""
    catalog = _CATALOG.fullmatch(statement.text)
    if catalog is not None:
        return statement.run_sql(f"SET {catalog[1]} = {stated_without_jar(catalog[1], catalog[2])}")
    stated = _HUDI.fullmatch(statement.text)
    if stated is not None:
        try:
            resolve({stated[1]: stated[2]})
        except HudiError as error:
            _log.warning("SET %s: statements that look at it will be refused: %s", stated[1], error)
    return None


def reset(statement: Statement) -> DataFrame:
    """Run a RESET; the session continues speaking Hudi, and so do those that Spark clones from it for streams."""
    answer = statement.run_sql(statement.text)
    is_enabled(statement.session)
    return answer
