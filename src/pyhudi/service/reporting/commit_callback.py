"""Commit callbacks: what they are told, and which one the options of a write name.

Rules: `HoodieWriteCommitCallback`, `HoodieWriteCommitCallbackMessage`, `HoodieWriteCommitCallbackConfig`. Java classes are not loaded; a
Python class is named as `module:Class`, or registered under the name of the Java class that it stands for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pyhudi.codec.actions.write_stat_codec import stat_to_json
from pyhudi.errors import UnsupportedError
from pyhudi.service.reporting.http_callback import HTTP_CLASS, HttpEndpoint, http_endpoint
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.options import Options
from pyhudi.spec.user_class import user_object

ON: Final = "hoodie.write.commit.callback.on"
CLASS: Final = "hoodie.write.commit.callback.class"
_UTILITIES: Final = "org.apache.hudi.utilities.callback"
#: Callbacks of Apache Hudi that speak to a message broker, which takes a client of its own.
_BROKERS: Final = {
    f"{_UTILITIES}.kafka.HoodieWriteCommitKafkaCallback": "Kafka",
    f"{_UTILITIES}.pulsar.HoodieWriteCommitPulsarCallback": "Pulsar",
}


@dataclass(frozen=True, slots=True)
class CommitCallbackMessage:
    """What a commit callback is told.

    Attributes:
        commit_time: requested time of the commit.
        table_name: name of the table.
        base_path: path of the table.
        write_stats: what the commit did to each file group.
        commit_action: `commit`, `deltacommit` or `replacecommit`.
        extra_metadata: the extra metadata of the commit.
    """

    commit_time: str
    table_name: str
    base_path: str
    write_stats: tuple[WriteStat, ...]
    commit_action: str
    extra_metadata: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the JSON object that Apache Hudi sends, by its names."""
        return {
            "commitTime": self.commit_time,
            "tableName": self.table_name,
            "basePath": self.base_path,
            "hoodieWriteStat": [stat_to_json(stat) for stat in self.write_stats],
            "commitActionType": self.commit_action,
            "extraMetadata": dict(self.extra_metadata),
        }

    def to_json(self) -> str:
        """Return the JSON text."""
        return json.dumps(self.to_dict())


class CommitCallback(Protocol):
    """Is told of each commit of the writes that name it."""

    def call(self, message: CommitCallbackMessage) -> None:
        """Take note of a commit, which is visible. What is raised is logged and in the result of the write; the commit stays.

        Args:
            message: what was committed.
        """
        ...


@dataclass(frozen=True, slots=True)
class HttpCallback:
    """Sends the message to an address: `HoodieWriteCommitHttpCallback`."""

    endpoint: HttpEndpoint

    def call(self, message: CommitCallbackMessage) -> None:
        """Send the message.

        Raises:
            ReportingError: the server does not answer, or refuses.
        """
        self.endpoint.send(message.to_json())


_REGISTERED: dict[str, CommitCallback] = {}


def register_commit_callback(name: str, callback: CommitCallback) -> None:
    """Call `callback` after each commit of the writes that name it, in this process.

    Args:
        name: what `hoodie.write.commit.callback.class` says.
        callback: is told of each commit.

    Example:
        >>> class Printing:
        ...     def call(self, message):
        ...         print(message.table_name, sum(stat.num_inserts for stat in message.write_stats))
        >>> register_commit_callback("com.example.Printing", Printing())
    """
    _REGISTERED[name] = callback


def commit_callback_of(options: Options) -> CommitCallback | None:
    """Return the callback that options name; None where they ask for none.

    Raises:
        OptionError: the address is missing or no HTTP address, a header is none, or a class is no callback.
        UnsupportedError: a Java class is named.
    """
    if not options.flag(ON):
        return None
    name = options.text(CLASS).strip()
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name == HTTP_CLASS:
        return HttpCallback(http_endpoint(options))
    if broker := _BROKERS.get(name):
        raise UnsupportedError(
            f"{CLASS}={name} is not served: pyhudi has no client of {broker}. Register a Python callback that sends"
            " message.to_json() with the client that you use: pyhudi.register_commit_callback(name, callback)."
        )
    if ":" not in name:
        raise UnsupportedError(
            f"{CLASS}={name} is not served: Java classes are not loaded. Register a Python implementation,"
            f" pyhudi.register_commit_callback(name, callback), name it as module:Class, or give {HTTP_CLASS}."
        )
    callback: CommitCallback = user_object(CLASS, name, "call(message)", "commit callback")
    return callback
