/**
 * What the tabs of this browser broadcast one another: that the person has signed out, which holds for all of them, and that the
 * person has signed in, by which a tab whose session has ended goes on.
 */

/** A message. `user` is what oidc-client-ts stores. */
export type SessionMessage = { kind: "signed-out" } | { kind: "signed-in"; user: string };

const channel = new BroadcastChannel("longshore.session");

export function broadcast(message: SessionMessage): void {
  channel.postMessage(message);
}

/** Calls for what other tabs broadcast, never for what this one does. */
export function onMessage(listener: (message: SessionMessage) => void): void {
  channel.onmessage = ({ data }) => listener(data as SessionMessage);
}
