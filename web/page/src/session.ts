/**
 * The session. Tokens are in sessionStorage and end with the tab. Each tab signs in separately, by one
 * redirect while the issuer's own session lasts.
 */

import { computed, signal } from "@preact/signals";
import { NetworkError } from "longshore-client";
import { User, type UserManager } from "oidc-client-ts";
import { type Config, isFinal, loadConfig, makeManager, revoke } from "./issuer";
import { forgetAll, setStorageOwner } from "./local-storage";
import { type Role, roleOf } from "./operator";
import { go } from "./router";

/** The states of the session. */
export type SessionState = "loading" | "unreachable" | "signed-out" | "expired" | "signed-in" | "open";

/** The current state. */
export const sessionState = signal<SessionState>("loading");

/** The error of the last sign-in: the issuer does not answer, or its sign-in page returned an error. */
export const signInError = signal<"unreachable" | "refused" | null>(null);

/** A fragment of the page's address that starts the sign-in at once. */
export const SIGN_IN_HASH = "#sign-in";

const user = signal<User | null>(null);

/** The user's display name. */
export const personName = computed(() => {
  const profile: Record<string, unknown> = user.value?.profile ?? {};
  const name = profile.name ?? profile["cognito:username"] ?? profile.preferred_username ?? profile.email;
  return typeof name === "string" ? name : null;
});

/** What the user may do for all tenants. Stays when the session ends, as the view does. */
export const role = signal<Role>(null);

/** The URL of the runbook of this deployment; null if it is not set. */
export const runbookUrl = signal<string | null>(null);

let config: Config | null = null;
let manager: UserManager | null = null;
/** The user of this tab's session, current or ended. */
let person: string | null = null;

/** Loads the configuration and restores the session, if any. */
export async function startSession(): Promise<void> {
  sessionState.value = "loading";
  try {
    config ??= await loadConfig();
    runbookUrl.value = config.runbookUrl ?? null;
  } catch {
    sessionState.value = "unreachable";
    return;
  }
  if (!config.signIn) {
    sessionState.value = "open";
    return;
  }
  if (!manager) {
    manager = makeManager(config.signIn);
    manager.events.addUserLoaded(accept);
    manager.events.addAccessTokenExpired(() => void renew());
    onMessage((message) => void (message.kind === "signed-out" ? forget() : adoptSession(message.user)));
  }
  await finishSignIn(manager);
  const found = await manager.getUser();
  if (found && !found.expired) accept(found);
  else if (found) await renewOnStart();
  else sessionState.value = "signed-out";
  if (sessionState.value === "signed-out" && location.hash === SIGN_IN_HASH) await signIn();
}

/** Returns the token for the API; undefined if the deployment needs no sign-in. */
export async function token(): Promise<string | undefined> {
  if (!manager) return undefined;
  // Reported as a network failure, so that callers retry after a delay.
  if (user.value?.expired && (await renew()) === "unreachable")
    throw new NetworkError("No answer to a renewal");
  return user.value ? apiToken(user.value) : undefined;
}

function apiToken(found: User): string | undefined {
  return config?.signIn?.token === "id" ? found.id_token : found.access_token;
}

/**
 * Renews a token that the API has refused. Returns true if there is a new one. After a permanent failure the
 * user must sign in again.
 */
export async function renewRefusedToken(): Promise<boolean> {
  return manager !== null && sessionState.value === "signed-in" && (await renew()) === "renewed";
}

/** Redirects to the sign-in page, which returns to the current path. */
export async function signIn(): Promise<void> {
  signInError.value = null;
  try {
    await manager?.signinRedirect({ state: { path: location.pathname + location.search } });
  } catch {
    signInError.value = "unreachable";
  }
}

/** Deletes the tokens in every tab, revokes them, and ends the session at the issuer. */
export async function signOut(): Promise<void> {
  const page = config?.signIn?.hostedPage;
  const clientId = config?.signIn?.clientId ?? "";
  const { id_token: idToken, refresh_token: refreshToken } = user.value ?? {};
  broadcast({ kind: "signed-out" });
  await forget();
  if (manager) await revoke(manager, refreshToken);
  if (page) {
    // Cognito's own endpoint: it has no end_session_endpoint.
    const query = new URLSearchParams({ client_id: clientId, logout_uri: `${location.origin}/` });
    location.assign(`${page}/logout?${query}`);
  } else {
    await manager
      ?.signoutRedirect({ id_token_hint: idToken, post_logout_redirect_uri: `${location.origin}/` })
      .catch(() => go("/"));
  }
}

function accept(found: User): void {
  person = found.profile.sub;
  setStorageOwner(person);
  user.value = found;
  role.value = roleOf(apiToken(found), config?.signIn?.operators);
  sessionState.value = "signed-in";
  // Without the refresh token: an issuer may treat its use by two tabs as theft.
  const { refresh_token: _, ...shared } = JSON.parse(found.toStorageString());
  broadcast({ kind: "signed-in", user: JSON.stringify(shared) });
}

/** Deletes the session after a sign-out in this tab or in another one. */
async function forget(): Promise<void> {
  forgetAll();
  person = null;
  user.value = null;
  role.value = null;
  sessionState.value = "signed-out";
  await manager?.removeUser();
}

/** Adopts the session of another tab if this tab's session of the same user has ended. */
async function adoptSession(stored: string): Promise<void> {
  const found = User.fromStorageString(stored);
  if (sessionState.value !== "expired" || found.profile.sub !== person) return;
  await manager?.storeUser(found);
  // Read back, so that the library schedules its expiry.
  const own = await manager?.getUser();
  if (own) accept(own);
}

/** Redeems the authorization code after a return from the sign-in page. */
async function finishSignIn(manager: UserManager): Promise<void> {
  const query = new URLSearchParams(location.search);
  if (!query.has("state") || !(query.has("code") || query.has("error"))) return;
  try {
    const found = await manager.signinRedirectCallback();
    const state = found.state as { path?: string } | undefined;
    go(state?.path?.startsWith("/") && !state.path.startsWith("//") ? state.path : "/", "replace");
  } catch {
    signInError.value = "refused";
    go("/", "replace");
  }
}

/** The outcome of a renewal. `ended`: the user must sign in again. */
type Renewal = "renewed" | "ended" | "unreachable";

/**
 * Delays between attempts of a renewal, in milliseconds. Most server errors of an issuer pass within them.
 */
const RETRY_DELAYS_MS = [500, 1000, 2000];

/** The renewal in progress. Shared by all calls that find the token expired. */
let renewing: Promise<Renewal> | null = null;

function renew(): Promise<Renewal> {
  renewing ??= renewWithRetry().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function renewOnStart(): Promise<void> {
  if ((await renew()) === "unreachable") sessionState.value = "unreachable";
}

async function renewWithRetry(): Promise<Renewal> {
  for (const pause of RETRY_DELAYS_MS) {
    const renewal = await renewOnce();
    if (renewal !== "unreachable") return renewal;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return renewOnce();
}

async function renewOnce(): Promise<Renewal> {
  const before = user.value ?? (await manager?.getUser()) ?? null;
  if (!before) return "ended";
  try {
    // Without a refresh token the library would use a hidden frame, which the page's policy forbids.
    const found = before.refresh_token ? await manager?.signinSilent() : null;
    if (found) {
      accept(found);
      return "renewed";
    }
  } catch (error) {
    if (!isFinal(error)) return "unreachable";
  }
  person ??= before.profile.sub;
  user.value = null;
  await manager?.removeUser();
  sessionState.value = "expired";
  return "ended";
}

/**
 * A message between the tabs of this browser: a sign-out ends all sessions, a sign-in revives ended ones.
 * `user` is in the format of oidc-client-ts.
 */
type SessionMessage = { kind: "signed-out" } | { kind: "signed-in"; user: string };

const channel = new BroadcastChannel("longshore.session");

function broadcast(message: SessionMessage): void {
  channel.postMessage(message);
}

/** Listens to other tabs. A tab does not receive its own messages. */
function onMessage(listener: (message: SessionMessage) => void): void {
  channel.onmessage = ({ data }) => listener(data as SessionMessage);
}
