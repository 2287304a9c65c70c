"""One Avro record of a known schema, from and to the container of an action file.

The schema inside a file is whatever its writer chose. It is resolved (Avro specification, "Schema Resolution")
against the schema bundled here, so that a caller sees the bundled fields with the bundled types whichever release
wrote the file. Schemas from files are untrusted: size and nesting are limited and recursive or zero-length elements
refused, so that no small file costs unbounded work.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable
from importlib import resources
from typing import Any, TypeAlias

import fastavro
from fastavro.types import Schema

from pyhudi.codec.avro.avro_container import Container, decode_container, encode_container
from pyhudi.errors import CorruptTableError

Record: TypeAlias = dict[str, Any]

_MAX_SCHEMA_CHARS = 1 << 20
_MAX_NESTING = 64
#: By these fastavro knows a schema that it parsed, and does not parse it again for each record. A file's own are not believed.
_MARKS = ("__fastavro_parsed", "__named_schemas")
#: What fastavro raises for bytes or schemas that contradict themselves.
_DECODING_ERRORS = (EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)


@functools.cache
def schema_text(name: str) -> str:
    """Return a bundled schema as Hudi writes it into files, e.g. of `HoodieCommitMetadata`."""
    return resources.files("pyhudi.codec.avro.schemas").joinpath(f"{name}.avsc").read_text("utf-8").replace("\n", "")


def decode_record(data: bytes, *names: str, narrow: Callable[[str], str] = str) -> tuple[str, Record]:
    """Return the name and the fields of the one record in a container file.

    Args:
        data: the whole file.
        names: the bundled schemas that such a file may hold.
        narrow: makes of the bundled schema that of the fields which are wanted; others are passed over, which is faster.

    Raises:
        CorruptTableError: the bytes are no container, or do not hold a record of one of these schemas.
    """
    container = decode_container(data)
    name = _record_name(container.schema)
    if name not in names:
        raise CorruptTableError(f"the Avro record is a {name}, expected is {' or '.join(names)}")
    return name, decode_payload(container.payload, container.schema, narrow(schema_text(name)))


def decode_payload(payload: bytes, writer: str, reader: str | None = None) -> Record:
    """Return the fields of one record, as the `reader` schema has them (as written when None).

    Raises:
        CorruptTableError: the schema is not acceptable, or the bytes do not follow it.
    """
    source = io.BytesIO(payload)
    reader_schema = None if reader is None or reader == writer else parse_avro_schema(reader)
    try:
        record = fastavro.schemaless_reader(source, parse_avro_schema(writer), reader_schema)
    except CorruptTableError:
        raise
    except (*_DECODING_ERRORS, fastavro.read.SchemaResolutionError) as error:
        raise CorruptTableError(f"the Avro record is cut off or damaged ({type(error).__name__}: {error})") from None
    if source.tell() != len(payload) or not isinstance(record, dict):
        raise CorruptTableError(f"the Avro record ends after {source.tell()} of {len(payload)} bytes")
    return record


def encode_record(name: str, record: Record, *, sync: bytes) -> bytes:
    """Return a container file that holds a record of a bundled schema; `sync` are its 16 random bytes."""
    text = schema_text(name)
    return encode_container(Container(text, encode_payload(record, text), sync))


def encode_payload(record: Record, schema: str) -> bytes:
    """Return the bytes of one record."""
    sink = io.BytesIO()
    fastavro.schemaless_writer(sink, parse_avro_schema(schema), record)
    return sink.getvalue()


def _record_name(schema: str) -> str:
    parsed = parse_avro_schema(schema)
    name = parsed.get("name") if isinstance(parsed, dict) else None
    return str(name).rsplit(".", 1)[-1]


@functools.lru_cache(maxsize=256)
def parse_avro_schema(text: str) -> Schema:
    """Parse and check a schema; the same few strings come again and again."""
    if len(text) > _MAX_SCHEMA_CHARS:
        raise CorruptTableError(f"an Avro schema of {len(text)} characters is refused: {_MAX_SCHEMA_CHARS} are allowed")
    try:
        schema = json.loads(text)
        _check_bounded(schema, {}, depth=0)
        if isinstance(schema, dict):
            schema = {key: value for key, value in schema.items() if key not in _MARKS}
        return fastavro.parse_schema(schema, _force=True)
    except RecursionError:
        raise CorruptTableError("an Avro schema is nested too deeply") from None
    except (*_DECODING_ERRORS, fastavro.schema.SchemaParseException, fastavro.schema.UnknownType) as error:
        raise CorruptTableError(f"the Avro schema is damaged ({type(error).__name__}: {error})") from None


def _check_bounded(schema: Any, known: dict[str, int], *, depth: int) -> int:
    """Return the least number of bytes that a value takes.

    Raises:
        CorruptTableError: a type contains itself, elements take no bytes, or the nesting is too deep.
    """
    if depth > _MAX_NESTING:
        raise CorruptTableError(f"an Avro schema is nested more than {_MAX_NESTING} deep")
    if isinstance(schema, list):
        for branch in schema:
            _check_bounded(branch, known, depth=depth + 1)
        return 1
    if isinstance(schema, str):
        if known.get(schema) == -1:
            raise CorruptTableError(f"the Avro type {schema} contains itself")
        return known.get(schema, 0 if schema == "null" else 1)
    kind = schema["type"]
    if kind in ("record", "error"):
        return _check_record(schema, known, depth)
    if kind in ("fixed", "enum"):
        size = int(schema["size"]) if kind == "fixed" else 1
        known[str(schema["name"])] = size
        return size
    if kind in ("array", "map"):
        size = _check_bounded(schema["items" if kind == "array" else "values"], known, depth=depth + 1)
        if kind == "array" and size == 0:
            raise CorruptTableError("an Avro array has elements without bytes")
        return 1
    return _check_bounded(kind, known, depth=depth + 1)


def _check_record(schema: Any, known: dict[str, int], depth: int) -> int:
    short = str(schema["name"]).rsplit(".", 1)[-1]
    namespace = schema.get("namespace")
    names = {str(schema["name"]), short, f"{namespace}.{short}"}
    for name in names:
        known[name] = -1
    size = sum(_check_bounded(field["type"], known, depth=depth + 1) for field in schema["fields"])
    for name in names:
        known[name] = size
    return size
