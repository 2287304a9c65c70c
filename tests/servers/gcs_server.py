"""A server of Google Cloud Storage's XML API, as far as obstore uses it: objects with generations, conditional writes, listings by pages.

The emulators that can be installed (`fake-gcs-server`, `gcp-storage-emulator`) serve Google's JSON API; of the XML API they have neither
preconditions nor, the latter, listings. Rules: Google's reference of the XML API (`x-goog-if-generation-match`, list objects of version 2,
multipart uploads).
"""

from __future__ import annotations

import email.utils
import hashlib
import itertools
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from xml.sax.saxutils import escape

_PAGE: Final = 1000
_GENERATION: Final = "x-goog-if-generation-match"


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One generation of an object."""

    generation: int
    data: bytes
    modified: datetime
    metadata: dict[str, str]

    @property
    def headers(self) -> dict[str, str]:
        return {
            "ETag": f'"{hashlib.md5(self.data).hexdigest()}"',
            "x-goog-generation": str(self.generation),
            "Last-Modified": email.utils.format_datetime(self.modified, usegmt=True),
            **self.metadata,
        }


@dataclass(slots=True)
class Bucket:
    """The objects of a bucket, and the uploads in parts that are not complete; the parts after `most_parts` are refused."""

    most_parts: int = 10_000
    objects: dict[str, StoredObject] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1_000_000))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, name: str, data: bytes, expected: int | None, metadata: dict[str, str] | None = None) -> StoredObject | None:
        """Write an object if its generation is the expected one, 0 for none at all; None if it is another."""
        with self.lock:
            present = self.objects.get(name)
            if expected is not None and expected != (present.generation if present else 0):
                return None
            self.objects[name] = StoredObject(next(self.numbers), data, datetime.now(UTC), metadata or {})
            return self.objects[name]

    def page(self, prefix: str, delimiter: str, after: str, limit: int) -> tuple[list[tuple[str, StoredObject]], list[str], str | None]:
        """Objects, prefixes that end with the delimiter, and the last name where more follow."""
        with self.lock:
            names = sorted((name for name in self.objects if name.startswith(prefix) and name > after), key=str.encode)
            objects: list[tuple[str, StoredObject]] = []
            prefixes: dict[str, None] = {}
            for name in names:
                head, separator, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
                if separator:
                    prefixes[prefix + head + separator] = None
                elif len(objects) + len(prefixes) == limit:
                    return objects, list(prefixes), objects[-1][0]
                else:
                    objects.append((name, self.objects[name]))
        return objects, list(prefixes), None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, buckets: dict[str, Bucket]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.buckets = buckets


@contextmanager
def gcs_server(bucket: Bucket) -> Iterator[dict[str, str]]:
    """A server with a bucket of the name `bucket`; the storage options of its tables."""
    with _Server({"bucket": bucket}) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield {"endpoint_url": f"http://127.0.0.1:{server.server_port}", "google_bearer_token": "test"}
        finally:
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name of the base class
        """Print nothing."""

    def answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, code: str) -> None:
        self.answer(status, f"<Error><Code>{code}</Code></Error>".encode())

    def located(self) -> tuple[Bucket, str, dict[str, str]] | None:
        """The bucket, the name of the object and the query; None after an answer that there is no such bucket."""
        url = urllib.parse.urlsplit(self.path)
        bucket, _, name = url.path.lstrip("/").partition("/")
        if bucket not in self.server.buckets:
            self.refuse(404, "NoSuchBucket")
            return None
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        return self.server.buckets[bucket], urllib.parse.unquote(name), query

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_GET(self) -> None:
        if (located := self.located()) is None:
            return
        bucket, name, query = located
        if not name:
            self.list_objects(bucket, query)
            return
        stored = bucket.objects.get(name)
        if stored is None:
            self.refuse(404, "NoSuchKey")
            return
        size = len(stored.data)
        start, end, status, headers = 0, size, 200, stored.headers
        if stated := self.headers.get("Range"):
            first, _, last = stated.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(size - int(last), 0)
            end = min(int(last) + 1, size) if first and last else size
            if start >= size:
                self.refuse(416, "InvalidRange")
                return
            status, headers = 206, {**headers, "Content-Range": f"bytes {start}-{end - 1}/{size}"}
        self.answer(status, stored.data[start:end], headers)

    do_HEAD = do_GET  # noqa: N815 - the name of the base class

    def list_objects(self, bucket: Bucket, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after", "")
        objects, prefixes, following = bucket.page(prefix, delimiter, after, int(query.get("max-keys", _PAGE)))
        parts = [
            f"<Contents><Key>{escape(name)}</Key><Size>{len(stored.data)}</Size><ETag>{escape(stored.headers['ETag'])}</ETag>"
            f"<Generation>{stored.generation}</Generation><LastModified>{stored.modified:%Y-%m-%dT%H:%M:%S.%fZ}</LastModified></Contents>"
            for name, stored in objects
        ]
        parts += [f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in prefixes]
        if following is not None:
            parts.append(f"<NextContinuationToken>{escape(following)}</NextContinuationToken>")
        self.answer(200, f"<ListBucketResult>{''.join(parts)}</ListBucketResult>".encode(), {"Content-Type": "application/xml"})

    def do_PUT(self) -> None:
        data = self.body()
        if (located := self.located()) is None:
            return
        bucket, name, query = located
        if "uploadId" in query and int(query["partNumber"]) > bucket.most_parts:
            self.refuse(400, "InvalidArgument")
            return
        if "uploadId" in query:
            bucket.uploads[query["uploadId"]][int(query["partNumber"])] = data
            self.answer(200, headers={"ETag": f'"{query["partNumber"]}"'})
            return
        expected = self.headers.get(_GENERATION)
        metadata = {key: value for key, value in self.headers.items() if key.lower().startswith("x-goog-meta-")}
        written = bucket.write(name, data, None if expected is None else int(expected), metadata)
        if written is None:
            self.refuse(412, "PreconditionFailed")
        else:
            self.answer(200, headers=written.headers)

    def do_POST(self) -> None:
        data = self.body()
        if (located := self.located()) is None:
            return
        bucket, name, query = located
        if "uploads" in query:
            upload = str(next(bucket.numbers))
            bucket.uploads[upload] = {}
            self.answer(200, _upload_xml("InitiateMultipartUploadResult", name, f"<UploadId>{upload}</UploadId>"))
            return
        assert data, "the list of the parts"
        parts = bucket.uploads.pop(query["uploadId"])
        written = bucket.write(name, b"".join(parts[number] for number in sorted(parts)), None)
        assert written is not None, "no generation is expected"
        etag = f"<ETag>{escape(written.headers['ETag'])}</ETag>"
        self.answer(200, _upload_xml("CompleteMultipartUploadResult", name, etag), written.headers)

    def do_DELETE(self) -> None:
        if (located := self.located()) is None:
            return
        bucket, name, query = located
        if "uploadId" in query:
            bucket.uploads.pop(query["uploadId"], None)
            self.answer(204)
        elif bucket.objects.pop(name, None) is None:
            self.refuse(404, "NoSuchKey")
        else:
            self.answer(204)


def _upload_xml(element: str, name: str, content: str) -> bytes:
    return f"<{element}><Bucket>bucket</Bucket><Key>{escape(name)}</Key>{content}</{element}>".encode()
