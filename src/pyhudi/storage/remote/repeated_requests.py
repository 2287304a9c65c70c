"""Requests to a store that are sent again, and files that are created exclusively although they are.

obstore repeats what a store answers with 429 or 5xx, and reads whose connection broke, by limits of its own. It does not repeat writes
whose connection broke, and takes S3's 409 to a conditional write, which asks for a repetition, for an object that exists. A write that
is repeated may meet its own object: the answer to an earlier attempt was lost. So the objects of exclusive creations have the id of the
request among their metadata, by which they are known again.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, BinaryIO, Final, TypeVar

from pyhudi import repeated_calls
from pyhudi.storage.remote import cloud_client

#: Seconds before each further attempt.
_PAUSES_S: Final = (0.1, 0.4, 1.6)
#: An attempt that took longer is not repeated: obstore has waited for as long as its limits say.
_LONGEST_ATTEMPT_S: Final = 30.0
#: How S3 says that a request shall be repeated.
_TRY_AGAIN: Final = "ConditionalRequestConflict"
#: Azure takes names of C# only.
_ID: Final = "pyhudi_request"

_Answer = TypeVar("_Answer")


def repeated(request: Callable[[], _Answer]) -> _Answer:
    """Make a request that does no harm when it is done twice, and return its answer; four times at most while the connection breaks."""
    return repeated_calls.repeated(request, Exception, _may_pass, pauses_s=_PAUSES_S, longest_s=_LONGEST_ATTEMPT_S)


def call_store(function: str, *arguments: Any, **named: Any) -> Any:
    """Return what a function of obstore returns, which is called again while the connection breaks."""
    return repeated(lambda: getattr(cloud_client.obstore_functions(), function)(*arguments, **named))


def put_object(store: Any, path: str, source: bytes | BinaryIO, *, is_new: bool) -> Any:
    """Write an object, and return the answer of the store, with the object's tag.

    Args:
        store: obstore's.
        path: of the object in the store.
        source: what to write. A file that may replace an object is sent in parts.
        is_new: whether to create the object, which is an error if somebody else has done so.

    Raises:
        Exception: obstore's own; its `AlreadyExistsError` where somebody else has created the object.
    """
    attributes = {_ID: uuid.uuid4().hex}
    how = {"mode": "create", "attributes": attributes} if is_new else {}

    def put() -> Any:
        if not isinstance(source, bytes):
            source.seek(0)
        in_parts = not is_new and not isinstance(source, bytes)
        return cloud_client.obstore_functions().put(store, path, source, use_multipart=in_parts, **how)

    try:
        return repeated(put)
    except Exception as error:
        if not is_new or type(error).__name__ != "AlreadyExistsError" or (mine := _version_if_mine(store, path, attributes)) is None:
            raise
        return mine


def _version_if_mine(store: Any, path: str, attributes: dict[str, str]) -> Any:
    """Return what tells the version of an object if it is the one with these attributes."""
    try:
        stored = call_store("get", store, path)
    except FileNotFoundError:
        return None
    return stored.meta if stored.attributes.get(_ID) == attributes[_ID] else None


def _may_pass(error: Exception) -> bool:
    text = cloud_client.first_line(error)
    return _TRY_AGAIN in text or (cloud_client.BROKEN in text and cloud_client.REPEATED not in text)
