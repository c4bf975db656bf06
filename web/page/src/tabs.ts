/**
 * What the tabs of this browser tell one another: that the person has signed out, which holds for all of them, and that the
 * person has signed in, by which a tab whose session has ended goes on.
 */

/** A message. `user` is what oidc-client-ts stores. */
export type Said = { kind: "signed-out" } | { kind: "signed-in"; user: string };

const channel = new BroadcastChannel("longshore.session");

export function tell(said: Said): void {
  channel.postMessage(said);
}

/** Calls for what other tabs tell, never for what this one does. */
export function hear(listener: (said: Said) => void): void {
  channel.onmessage = ({ data }) => listener(data as Said);
}
