"""An item of a DynamoDB table that is written only if nobody else has written it since it was read, in the form of the AWS lock client.

Rules: `AmazonDynamoDBLockClient`, `DynamoDBBasedLockProviderBase`. The attributes are `key`, `ownerName`, `leaseDuration` (milliseconds, as
text), `recordVersionNumber`, which changes with each write, `data` (here the URI of the locked table, in bytes) and, where another program
releases without deleting, `isReleased`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pyhudi.clients.aws_client import load_boto3, no_answer, refusal
from pyhudi.errors import OptionError, StorageError

TABLE: Final = "hoodie.write.lock.dynamodb.table"
REGION: Final = "hoodie.write.lock.dynamodb.region"
_KEY: Final = "key"
_ACTIVE: Final = "ACTIVE"
_POLL_S: Final = 1.0
_ATTEMPTS: Final = 2


@dataclass(frozen=True, slots=True)
class LockItem:
    """What an item says; `data` is the URI of the table that a pyhudi writer locks, `""` for others."""

    owner: str
    lease_ms: int
    version: str
    data: str = ""
    is_released: bool = False


@dataclass(frozen=True, slots=True)
class TableCapacity:
    """How a table of DynamoDB is created that does not exist: Apache Hudi's options, with its defaults."""

    billing_mode: str = "PAY_PER_REQUEST"
    read_capacity: int = 20
    write_capacity: int = 10
    creation_timeout_s: float = 600.0


class ConditionalItem(Protocol):
    """One item."""

    def read(self) -> LockItem | None:
        """Return what the item says now, None where there is none.

        Raises:
            StorageError: DynamoDB does not answer, or refuses, or the item is damaged.
        """
        ...

    def write(self, item: LockItem, expected: LockItem | None) -> bool:
        """Put an item in place of the expected one, or create it; False when there is another one.

        Raises:
            StorageError: DynamoDB does not answer, or refuses; the item may be written.
        """
        ...

    def delete(self, expected: LockItem) -> None:
        """Delete the item if it is the expected one.

        Raises:
            StorageError: DynamoDB does not answer, or refuses.
        """
        ...


class DynamoDBItem:
    """The item with a key in a table of DynamoDB."""

    def __init__(self, client: Any, errors: Any, table: str, key: str) -> None:
        """Nothing is sent yet; `client` and `errors` are those of `connect_dynamodb`."""
        self._client, self._errors, self._table, self._key = client, errors, table, key

    def read(self) -> LockItem | None:
        """Return what the item says now; see the protocol."""
        with self._translated_errors("reading"):
            answer = self._client.get_item(TableName=self._table, Key={_KEY: {"S": self._key}}, ConsistentRead=True)
        return _decode(answer["Item"], self._name) if answer.get("Item") else None

    def write(self, item: LockItem, expected: LockItem | None) -> bool:
        """Put an item in place of the expected one; see the protocol."""
        condition = (
            _same(expected) if expected else {"ConditionExpression": "attribute_not_exists(#k)", "ExpressionAttributeNames": {"#k": _KEY}}
        )
        with self._translated_errors("writing"):
            try:
                self._client.put_item(TableName=self._table, Item=_encode(item, self._key), **condition)
            except self._errors.ClientError as error:
                if _code(error) == "ConditionalCheckFailedException":
                    return False
                raise
        return True

    def delete(self, expected: LockItem) -> None:
        """Delete the item if it is the expected one; see the protocol."""
        with self._translated_errors("deleting"):
            try:
                self._client.delete_item(TableName=self._table, Key={_KEY: {"S": self._key}}, **_same(expected))
            except self._errors.ClientError as error:
                if _code(error) != "ConditionalCheckFailedException":
                    raise

    def create_table(self, capacity: TableCapacity) -> None:
        """Create the table of the item, unless it exists, and wait until it can be used.

        Raises:
            OptionError: it exists with other keys than those of a table of locks.
            StorageError: it is not there in time.
        """
        end = time.monotonic() + capacity.creation_timeout_s
        description = self._description()
        if description is None:
            self._create(capacity)
        while description is None or description["TableStatus"] not in (_ACTIVE, "UPDATING"):
            if time.monotonic() > end:
                raise StorageError(
                    f"table '{self._table}' of DynamoDB was created and is not active after {capacity.creation_timeout_s:g} s"
                )
            if description is not None:
                time.sleep(_POLL_S)
            description = self._description()
        keys = [(one["AttributeName"], one["KeyType"]) for one in description["KeySchema"]]
        if keys != [(_KEY, "HASH")]:
            raise OptionError(
                f"{TABLE}={self._table} names a table of DynamoDB with the keys {keys}; one of locks has the partition key '{_KEY}' and no"
                " sort key. Name another table, which is created if it does not exist."
            )

    def _create(self, capacity: TableCapacity) -> None:
        request: dict[str, Any] = {"BillingMode": capacity.billing_mode}
        if capacity.billing_mode == "PROVISIONED":
            units = {"ReadCapacityUnits": capacity.read_capacity, "WriteCapacityUnits": capacity.write_capacity}
            request["ProvisionedThroughput"] = units
        with self._translated_errors("creating the table of"):
            try:
                self._client.create_table(
                    TableName=self._table,
                    KeySchema=[{"AttributeName": _KEY, "KeyType": "HASH"}],
                    AttributeDefinitions=[{"AttributeName": _KEY, "AttributeType": "S"}],
                    **request,
                )
            except self._errors.ClientError as error:
                if _code(error) != "ResourceInUseException":  # another writer creates it at the same time
                    raise

    def _description(self) -> dict[str, Any] | None:
        with self._translated_errors("looking for the table of"):
            try:
                described: dict[str, Any] = self._client.describe_table(TableName=self._table)["Table"]
            except self._errors.ClientError as error:
                if _code(error) == "ResourceNotFoundException":
                    return None
                raise
        return described

    @property
    def _name(self) -> str:
        return f"lock '{self._key}' in table '{self._table}' of DynamoDB at {self._client.meta.endpoint_url}"

    @contextlib.contextmanager
    def _translated_errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except self._errors.ClientError as error:
            raise StorageError(f"DynamoDB refused {action} the {self._name}: {refusal(error)}") from error
        except self._errors.BotoCoreError as error:
            reason = no_answer(error, "dynamodb", (self._client.meta.region_name, REGION))
            raise StorageError(f"DynamoDB did not answer while {action} the {self._name}: {reason}") from error


@functools.lru_cache(maxsize=8)
def connect_dynamodb(
    region: str, endpoint_url: str, credentials: tuple[tuple[str, str], ...], timeout_s: float, process: int
) -> tuple[Any, Any]:
    """Return a client, which threads may share, and the module of its errors. Nothing is sent yet.

    Args:
        region: of AWS.
        endpoint_url: `""` for that of the region.
        credentials: arguments of boto3; what is not given it looks for itself.
        timeout_s: how many seconds to wait for an answer.
        process: the id of this process: a forked child has connections of its own.

    Raises:
        OptionError: boto3 is not installed, or the region or address are none.
    """
    boto3, errors = load_boto3(
        "the lock providers of DynamoDB need the package boto3: pip install 'pyhudi[dynamodb]'",
        "name another class in hoodie.write.lock.provider",
    )
    del process  # only tells clients apart
    config = _config(timeout_s)
    try:
        client = boto3.client("dynamodb", region_name=region, endpoint_url=endpoint_url or None, config=config, **dict(credentials))
    except (errors.BotoCoreError, ValueError) as error:
        raise OptionError(f"DynamoDB cannot be reached with these options: {error} {REGION} names the region") from error
    return client, errors


def _config(timeout_s: float) -> Any:
    retries = {"total_max_attempts": _ATTEMPTS, "mode": "standard"}
    return importlib.import_module("botocore.config").Config(connect_timeout=timeout_s, read_timeout=timeout_s, retries=retries)


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code"))


def _same(expected: LockItem) -> dict[str, Any]:
    """Return the condition that the item is still the expected one."""
    values = {":v": {"S": expected.version}, ":o": {"S": expected.owner}}
    return {
        "ConditionExpression": "attribute_exists(#k) AND #v = :v AND #o = :o",
        "ExpressionAttributeNames": {"#k": _KEY, "#v": "recordVersionNumber", "#o": "ownerName"},
        "ExpressionAttributeValues": values,
    }


def _encode(item: LockItem, key: str) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        _KEY: {"S": key},
        "ownerName": {"S": item.owner},
        "leaseDuration": {"S": str(item.lease_ms)},
        "recordVersionNumber": {"S": item.version},
    }
    return {**encoded, "data": {"B": item.data.encode()}} if item.data else encoded


def _decode(stored: Mapping[str, Any], name: str) -> LockItem:
    try:
        return LockItem(
            stored["ownerName"]["S"],
            int(stored["leaseDuration"]["S"]),
            stored["recordVersionNumber"]["S"],
            bytes(stored.get("data", {}).get("B", b"")).decode(errors="replace"),
            "isReleased" in stored,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"the {name} is damaged: it lacks a whole ownerName, leaseDuration or recordVersionNumber. If no writer of the table, also of"
            " Apache Hudi, runs anywhere, delete the item."
        ) from error
