"""Sending the message of a commit over HTTP. Rules: `HoodieWriteCommitHttpCallbackClient`."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pyhudi.errors import OptionError, ReportingError
from pyhudi.spec.options import Options

HTTP_CLASS: Final = "org.apache.hudi.callback.impl.HoodieWriteCommitHttpCallback"
_PREFIX: Final = "hoodie.write.commit.callback.http"
URL: Final = f"{_PREFIX}.url"
TIMEOUT: Final = f"{_PREFIX}.timeout.seconds"
API_KEY: Final = f"{_PREFIX}.api.key"
HEADERS: Final = f"{_PREFIX}.custom.headers"
_API_KEY_HEADER: Final = "HUDI-CALLBACK-KEY"
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """An address that messages are sent to, and the headers that go with them, which may hold secrets."""

    url: str
    timeout_s: int
    headers: Mapping[str, str] = field(repr=False)

    def send(self, body: str) -> None:
        """Send a JSON text by POST.

        Raises:
            ReportingError: the server does not answer in time, or with a status of 300 or above.
        """
        request = urllib.request.Request(self.url, body.encode(), dict(self.headers), method="POST")  # noqa: S310 - checked to be HTTP
        try:
            with _opener.open(request, timeout=self.timeout_s):
                return
        except urllib.error.HTTPError as error:
            with error:
                raise ReportingError(f"{shown_url(self.url)} answers the commit callback with status {error.code}") from None
        except (OSError, http.client.HTTPException) as error:
            raise ReportingError(f"the commit callback {shown_url(self.url)} cannot be reached: {error}") from error


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key would go to another server, and a POST would become a GET."""

    def redirect_request(self, *_: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def http_endpoint(options: Options) -> HttpEndpoint:
    """Return where messages are sent.

    Raises:
        OptionError: the address is missing or no HTTP address, or a header is none.
    """
    url = options.text(URL).strip()
    if not url:
        raise OptionError(f"the HTTP commit callback has no address: set {URL}.")
    try:
        parsed = urllib.parse.urlsplit(url)
        is_http = parsed.scheme in ("http", "https") and bool(parsed.hostname) and parsed.port != 0
    except ValueError:
        is_http = False
    if not is_http or not url.isascii() or re.search(r"\s", url):
        raise OptionError(f"{URL}={shown_url(url)} is no address; give one like http://host:8080/path.")
    headers = {_API_KEY_HEADER: options.text(API_KEY), "Content-Type": "application/json; charset=UTF-8", **_custom_headers(options)}
    if any(re.search(r"[\r\n]", value) or not value.isascii() for value in headers.values()):
        raise OptionError(f"{API_KEY} or {HEADERS} has a character that no header of HTTP can have.")
    return HttpEndpoint(url, options.integer(TIMEOUT), headers)


def shown_url(url: str) -> str:
    """Return an address for messages, without its user, password and query, which may be secrets.

    Example:
        >>> shown_url("https://me:secret@host:8080/hooks?token=secret")
        'https://host:8080/hooks'
    """
    head, _, _ = url.partition("?")
    scheme, separator, rest = head.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def _custom_headers(options: Options) -> dict[str, str]:
    headers = {}
    for number, header in enumerate(filter(str.strip, options.text(HEADERS).split(";")), 1):
        name, separator, value = (part.strip() for part in header.partition(":"))
        if not (separator and value and _HEADER_NAME.fullmatch(name)):
            # The header is not shown: it may be a password.
            raise OptionError(f"header {number} of {HEADERS} is none; give them as Name:value;Other-Name:value.")
        headers[name] = value
    return headers
