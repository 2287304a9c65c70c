"""The connection with AWS Glue: boto3. Its errors become `CatalogError`, with what Glue says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pyhudi.clients.aws_client import credentials, load_boto3
from pyhudi.errors import CatalogError, OptionError
from pyhudi.repeated_calls import repeated
from pyhudi.spec.options import Options

#: The arguments of a client by the option that gives them, besides the credentials.
_ARGUMENTS: Final = {
    "hoodie.aws.glue.endpoint": "endpoint_url",
    "hoodie.aws.glue.region": "region_name",
}
CATALOG_ID: Final = "hoodie.datasource.meta.sync.glue.catalogId"
_CONCURRENT: Final = "ConcurrentModificationException"

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class GlueClient:
    """A client of Glue; `arguments` go with every request."""

    client: Any
    errors: Any
    arguments: dict[str, str]

    def call(self, method: str, action: str, harmless: Collection[str] = (), **request: Any) -> Any:
        """Return the answer to a request that does no harm when it is sent twice, None for an error of a harmless code.

        Raises:
            CatalogError: Glue does not answer, refuses, or says each time that another process changes the same.
        """
        return self.repeat(lambda: self.send(method, action, harmless, **request))

    @staticmethod
    def repeat(call: Callable[[], _Result]) -> _Result:
        """Run a call, again while Glue says that another process changes the same: boto3 sends such requests once only.

        Raises:
            CatalogError: as the call does, or Glue says that each time.
        """
        return repeated(call, CatalogError, lambda error: _CONCURRENT in str(error))

    def send(self, method: str, action: str, harmless: Collection[str] = (), **request: Any) -> Any:
        """Return the answer to a request, None for an error of a harmless code.

        Raises:
            CatalogError: Glue does not answer, or refuses.
        """
        try:
            return getattr(self.client, method)(**self.arguments, **request)
        except self.errors.ClientError as error:
            details = error.response.get("Error", {})
            if details.get("Code") in harmless:
                return None
            raise CatalogError(f"AWS Glue refused {action}: {details.get('Code')}: {details.get('Message')}") from error
        except self.errors.BotoCoreError as error:
            raise CatalogError(f"AWS Glue did not answer while {action}: {error}") from error

    def pages(self, method: str, action: str, field: str, **request: Any) -> Iterator[Any]:
        """Yield what all pages of an answer hold."""
        token: dict[str, str] = {}
        while True:
            answer = self.call(method, action, **request, **token)
            yield from answer[field]
            if not answer.get("NextToken"):
                return
            token = {"NextToken": answer["NextToken"]}

    def close(self) -> None:
        """End the connections."""
        self.client.close()


def connect_glue(options: Options) -> GlueClient:
    """Return a client; nothing is sent yet.

    Raises:
        OptionError: boto3 is not installed, or it lacks a region.
    """
    boto3, errors = load_client()
    given = credentials(options) | {argument: value for name, argument in _ARGUMENTS.items() if (value := options.get(name))}
    if region := options.get("hoodie.aws.region"):
        given.setdefault("region_name", region)
    catalog = options.get(CATALOG_ID)
    try:
        client = boto3.client("glue", **given)
    except (errors.BotoCoreError, ValueError) as error:
        raise OptionError(f"AWS Glue cannot be reached with these options: {error} hoodie.aws.glue.region names the region") from error
    return GlueClient(client, errors, {"CatalogId": catalog} if catalog else {})


def load_client() -> tuple[Any, Any]:
    """Return the modules of boto3 and of its errors.

    Raises:
        OptionError: they are not installed.
    """
    return load_boto3(
        "a sync with AWS Glue needs the package boto3: pip install 'pyhudi[glue]'",
        "leave out hoodie.datasource.hive_sync.mode=glue and the tool class AwsGlueCatalogSyncTool",
    )
