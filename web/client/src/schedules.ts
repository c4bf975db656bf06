// Schedules: one method for each call of the API.

import { conditional, type Getter, json, versioned } from "./answers.js";
import type { Job, VersionedSchedule } from "./documents.js";
import type { Send } from "./http.js";
import type { ScheduleMethods } from "./methods.js";

/** Creates the methods of schedules. */
export function scheduleMethods(send: Send, get: Getter): ScheduleMethods {
  return {
    // A repetition would create another schedule.
    createSchedule: (request, { signal } = {}) =>
      versioned<VersionedSchedule>(
        send({ method: "POST", path: "/api/schedules", signal, body: request, repeatable: false }),
      ),
    listSchedules: (options) => get("/api/schedules", options),
    getSchedule: (scheduleId, { signal } = {}) =>
      versioned<VersionedSchedule>(
        send({ method: "GET", path: schedulePath(scheduleId), signal, repeatable: true }),
      ),
    putSchedule: (scheduleId, request, options = {}) =>
      versioned<VersionedSchedule>(
        send({
          method: "PUT",
          path: schedulePath(scheduleId),
          ...conditional(options),
          body: request,
          // The first of two conditional requests may have changed the version that the second one names.
          repeatable: !options.ifMatch,
        }),
      ),
    deleteSchedule: async (scheduleId, options = {}) => {
      const path = schedulePath(scheduleId);
      await send({ method: "DELETE", path, ...conditional(options), repeatable: false });
    },
    // A repetition would make another job.
    triggerSchedule: (scheduleId, { signal } = {}) => {
      const path = `${schedulePath(scheduleId)}/trigger`;
      return json<Job>(send({ method: "POST", path, signal, repeatable: false }));
    },
    listOccurrences: (scheduleId, options) => get(`${schedulePath(scheduleId)}/occurrences`, options),
  };
}

function schedulePath(scheduleId: string): string {
  return `/api/schedules/${encodeURIComponent(scheduleId)}`;
}
