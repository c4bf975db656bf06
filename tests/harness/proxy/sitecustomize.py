"""Loaded by the fault proxy's Python at start (PYTHONPATH holds this folder).

The proxy drops Content-Length from what it passes on. For a HEAD that is the whole
answer: the size of an S3 object would be 0.
"""

from aiohttp import web
from microburst import forward

stream = forward._stream_to_client


async def with_length(request, status, headers, mutator, chunks):
    if request.method != "HEAD":
        return await stream(request, status, headers, mutator, chunks)
    dropped = forward.HOP_BY_HOP - {"content-length"}
    kept = {name: value for name, value in headers.items() if name.lower() not in dropped}
    answer = web.StreamResponse(status=status, headers=kept)
    await answer.prepare(request)
    await answer.write_eof()
    return answer


forward._stream_to_client = with_length
