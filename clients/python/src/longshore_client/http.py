"""One call of the API: token, JSON, errors, and retries where they are harmless."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .delays import back_off
from .errors import LongshoreError, NetworkError, ProblemError, is_transient, problem_from

#: Attempts per call.
ATTEMPTS = 4
#: Time limit of a call with all its attempts.
CALL_SECONDS = 60.0
#: Time limit of one attempt. Slightly above API Gateway's limit for a function.
ANSWER_SECONDS = 35.0
#: Time without progress after which a download or an upload is stalled.
STALL_SECONDS = 60.0
BLOCK_BYTES = 1 << 16

Token = str | Callable[[], str | None] | None


@dataclass(frozen=True)
class Call:
    """A request to the API."""

    method: str
    #: The path, with the leading `/api`.
    path: str
    #: Set if a second request has no further effect, so that a lost reply can be retried.
    repeatable: bool
    #: The parameters; `None` is left out. A dictionary is sent in the style `deepObject`: `name[key]=value`.
    query: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    #: The body, sent as JSON unless it is `None`.
    body: object = None


@dataclass(frozen=True)
class Response:
    """A response with a status of 2xx or 304."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Parses the body."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise NetworkError("The answer is no JSON") from error


class Transport:
    """Makes calls with the address and the token of a deployment."""

    def __init__(self, base_url: str, token: Token, sleep: Callable[[float], None]) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url is an address such as https://abc.execute-api.eu-central-1.amazonaws.com")
        self._base_url = base_url.rstrip("/")
        self._token = token
        self.sleep = sleep

    def call(
        self, method: str, path: str, if_match: str | None = None, *, repeatable: bool = False, body: object = None
    ) -> Response:
        """Makes a call without parameters, on condition that the resource has the version `if_match`, if any."""
        return self.send(Call(method, path, repeatable, headers={"if-match": if_match}, body=body))

    def send(self, call: Call) -> Response:
        """Makes a call. Repeats it after a lost reply if it is repeatable."""
        end = time.monotonic() + CALL_SECONDS
        for failures in range(ATTEMPTS):
            try:
                return self._send_once(call, min(ANSWER_SECONDS, max(1.0, end - time.monotonic())))
            except LongshoreError as error:
                last = failures + 1 == ATTEMPTS or time.monotonic() >= end
                if last or not call.repeatable or not _is_unanswered(error):
                    raise
                self.sleep(back_off(failures))
        raise AssertionError("the last attempt returns or raises")

    def _send_once(self, call: Call, seconds: float) -> Response:
        headers = {name: value for name, value in call.headers.items() if value is not None}
        token = self._token() if callable(self._token) else self._token
        if token:
            headers["authorization"] = f"Bearer {token}"
        data = None
        if call.body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(call.body, allow_nan=False).encode()
        url = self._base_url + call.path + _search(call.query)
        request = Request(url, data=data, headers=headers, method=call.method)
        status, answered, body = exchange(request, seconds, time.monotonic() + seconds)
        if 200 <= status < 300 or status == 304:
            return Response(status, answered, body)
        raise problem_from(status, answered, body)


def exchange(request: Request, stall: float, end: float | None = None) -> tuple[int, Mapping[str, str], bytes]:
    """Sends a request and reads the response, whatever its status is."""
    try:
        response = _open(request, stall)
        with response:
            return response.status, _lower(response.headers), b"".join(_blocks(response, end))
    except (OSError, http.client.HTTPException) as error:
        raise NetworkError(f"No answer from {urlsplit(request.full_url).hostname}") from error


def download(url: str) -> Iterator[bytes]:
    """Yields the content at a presigned URL. It is requested without a token: the URL is the permission."""
    try:
        response = _open(Request(url), STALL_SECONDS)
        with response:
            if response.status != 200:
                raise problem_from(response.status, _lower(response.headers), b"".join(_blocks(response, None)))
            yield from _blocks(response, None)
    except (OSError, http.client.HTTPException) as error:
        raise NetworkError(f"No answer from {urlsplit(url).hostname}") from error


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: the token would be sent to another host."""

    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


_opener = build_opener(_NoRedirect)


def _open(request: Request, stall: float) -> Any:
    try:
        return _opener.open(request, timeout=stall)
    except HTTPError as error:
        return error  # A response too.


def _blocks(response: Any, end: float | None) -> Iterator[bytes]:
    while block := response.read1(BLOCK_BYTES):
        if end is not None and time.monotonic() > end:
            raise TimeoutError("the answer takes too long")
        yield block
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)


def _is_unanswered(error: LongshoreError) -> bool:
    """Returns true if the API itself has not answered. Callers judge the API's own errors."""
    if isinstance(error, ProblemError):
        return error.kind == "gateway" and is_transient(error)
    return isinstance(error, NetworkError)


def _lower(headers: Any) -> Mapping[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _search(query: Mapping[str, object]) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in query.items():
        if isinstance(value, Mapping):
            pairs += [(f"{name}[{key}]", str(member)) for key, member in value.items()]
        elif value is not None:
            pairs.append((name, str(value)))
    return f"?{urlencode(pairs)}" if pairs else ""
