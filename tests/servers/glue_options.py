"""Options of a sync with the Glue catalog of moto's server."""

from __future__ import annotations

from collections.abc import Mapping

from tests.servers.synced import HIVE


def glue_options(server: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{HIVE}.mode": "glue",
        "hoodie.aws.glue.endpoint": server["endpoint_url"],
        "hoodie.aws.glue.region": server["region"],
        "hoodie.aws.access.key": server["key"],
        "hoodie.aws.secret.key": server["secret"],
    }
