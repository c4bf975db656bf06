"""Schedules: one method for each call of the API."""

from __future__ import annotations

from typing import cast
from urllib.parse import quote

from .documents import Job, Occurrences, Schedule, ScheduleRequest, Schedules
from .http import Call, Response, Transport


class VersionedSchedule(Schedule):
    """A schedule with the `ETag` of its response, for `if_match`; `None` if the response had none."""

    etag: str | None


class ScheduleCalls:
    """The calls of schedules, as methods of the client."""

    transport: Transport

    def create_schedule(self, request: ScheduleRequest) -> VersionedSchedule:
        """Creates a schedule. Never repeated after a lost reply: `list_schedules` shows if it was created."""
        return _versioned(self.transport.call("POST", "/api/schedules", body=request))

    def list_schedules(self) -> Schedules:
        """Lists the schedules of the tenant."""
        return cast(Schedules, self.transport.call("GET", "/api/schedules", repeatable=True).json())

    def get_schedule(self, schedule_id: str) -> VersionedSchedule:
        """Returns a schedule with its `etag`."""
        return _versioned(self.transport.call("GET", _schedule(schedule_id), repeatable=True))

    def put_schedule(
        self, schedule_id: str, request: ScheduleRequest, *, if_match: str | None = None
    ) -> VersionedSchedule:
        """Replaces all fields of a schedule. Without `if_match`, a lost reply is retried."""
        # The first of two conditional requests may have changed the version that the second one names.
        repeatable = if_match is None
        path = _schedule(schedule_id)
        return _versioned(self.transport.call("PUT", path, if_match, repeatable=repeatable, body=request))

    def delete_schedule(self, schedule_id: str, *, if_match: str | None = None) -> None:
        """Deletes a schedule. Its jobs stay. Never repeated after a lost reply."""
        self.transport.call("DELETE", _schedule(schedule_id), if_match)

    def trigger_schedule(self, schedule_id: str) -> Job:
        """Creates a job from a schedule now. Never repeated after a lost reply."""
        return cast(Job, self.transport.call("POST", f"{_schedule(schedule_id)}/trigger").json())

    def list_occurrences(self, schedule_id: str, *, limit: int | None = None, cursor: str | None = None) -> Occurrences:
        """Lists a page of a schedule's occurrences, newest first."""
        query = {"limit": limit, "cursor": cursor}
        path = f"{_schedule(schedule_id)}/occurrences"
        return cast(Occurrences, self.transport.send(Call("GET", path, True, query=query)).json())


def _schedule(schedule_id: str) -> str:
    return f"/api/schedules/{quote(schedule_id, safe='')}"


def _versioned(response: Response) -> VersionedSchedule:
    return cast(VersionedSchedule, {**response.json(), "etag": response.headers.get("etag")})
