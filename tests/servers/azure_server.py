"""A server of Azure's blob storage (Azurite, a package of npm that `make test-servers` installs)."""

from __future__ import annotations

import base64
import email.utils
import hmac
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.java_server import server_process

#: The account that Azurite documents for everybody.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextmanager
def azure_server(folder: Path, port: int) -> Iterator[dict[str, str]]:
    """A server with a container `bucket`; the storage options of its tables. `PYHUDI_AZURITE` is its command."""
    command = [os.environ["PYHUDI_AZURITE"], "--blobPort", str(port), "--location", str(folder), "--silent", "--disableTelemetry"]
    with server_process(folder, port, [*command, "--skipApiVersionCheck"]):
        url = f"http://127.0.0.1:{port}"
        _create_container(url, f"/{ACCOUNT}/bucket")
        yield {"account_name": ACCOUNT, "account_key": KEY, "endpoint_url": f"{url}/{ACCOUNT}"}


def _create_container(url: str, path: str) -> None:
    """Create a container by a request that is signed with the key of the account, for which obstore has no function."""
    date = email.utils.formatdate(usegmt=True)
    named = f"x-ms-date:{date}\nx-ms-version:2021-08-06\n"
    signed = "PUT" + "\n" * 12 + f"{named}/{ACCOUNT}{path}\nrestype:container"
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), signed.encode(), "sha256")).decode()
    headers = {"x-ms-date": date, "x-ms-version": "2021-08-06", "Authorization": f"SharedKey {ACCOUNT}:{signature}"}
    urllib.request.urlopen(urllib.request.Request(f"{url}{path}?restype=container", method="PUT", headers=headers))
