"""Patches of the fault proxy. Python loads this module at start, because PYTHONPATH contains this folder.

The proxy drops required headers:

- Host and Content-Length of a request, which are part of the signature. An emulator that enforces
  policies also checks signatures, and would refuse every call and every upload.
- Content-Length of the response to a HEAD, without which the size of an S3 object would be 0.

The proxy also mistakes the calls of a multipart upload for other calls, because it looks for `UploadId`
instead of `uploadId`. A rule for them would never match.

It passes the payload of an invocation on without reading it. A rule for batches or for pings needs it. The path of an
invocation has an ARN, whose escaped colons are part of the signature; the proxy would send them without the escapes.
"""

from aiohttp import ClientSession, web
from microburst import detection, forward
from microburst.detection import operation
from yarl import URL

outbound_headers = forward.Upstream._outbound_headers
stream = forward._stream_to_client
match = operation.match_rest_operation

MULTIPART_OPERATIONS = {
    "GET": "ListParts",
    "PUT": "UploadPart",
    "POST": "CompleteMultipartUpload",
    "DELETE": "AbortMultipartUpload",
}


def with_signed_headers(self, request):
    signed = {name: request.headers[name] for name in ("host", "content-length") if name in request.headers}
    return outbound_headers(self, request) | signed


async def with_length(request, status, headers, mutator, chunks):
    if request.method != "HEAD":
        return await stream(request, status, headers, mutator, chunks)
    dropped = forward.HOP_BY_HOP - {"content-length"}
    kept = {name: value for name, value in headers.items() if name.lower() not in dropped}
    answer = web.StreamResponse(status=status, headers=kept)
    await answer.prepare(request)
    await answer.write_eof()
    return answer


def match_with_parts(service, method, path, query, headers, body=None):
    if service == "s3" and "uploadId" in query:
        is_copy = method == "PUT" and any(name.lower() == "x-amz-copy-source" for name in headers)
        return "UploadPartCopy" if is_copy else MULTIPART_OPERATIONS[method]
    return match(service, method, path, query, headers, body)


def exact_url(self, url):
    return URL(url, encoded=True)


ClientSession._build_url = exact_url
detection._STREAMING_OPS.discard(("lambda", "Invoke"))
operation.match_rest_operation = match_with_parts
forward.Upstream._outbound_headers = with_signed_headers
forward._stream_to_client = with_length
