/** The time zones that a user can choose. */

/** Returns the zone of the user's computer. */
export function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns the zones that the browser knows: that of the user's computer, UTC, then the others by name. */
export function timeZones(): string[] {
  return [...new Set([ownTimeZone(), "UTC", ...Intl.supportedValuesOf("timeZone")])];
}
