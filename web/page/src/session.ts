/**
 * Who is signed in. Tokens are in sessionStorage: they end with the tab, and another tab signs in for itself, which
 * takes no more than a redirect while the issuer still knows the person.
 */

import { computed, signal } from "@preact/signals";
import { NetworkError } from "longshore-client";
import { User, type UserManager } from "oidc-client-ts";
import { type Config, loadConfig } from "./config";
import { isFinal, makeManager, revoke } from "./issuer";
import { forgetAll, setMemoryOwner } from "./memory";
import { go } from "./router";

/** Where sign-in stands. */
export type SessionState = "loading" | "unreachable" | "signed-out" | "expired" | "signed-in" | "open";

/** Where it stands now. */
export const sessionState = signal<SessionState>("loading");

/** Why the person is not signed in though they tried: the issuer does not answer, or its sign-in page came back with an error. */
export const signInError = signal<"unreachable" | "refused" | null>(null);

/** At the end of this page's address: go to the sign-in page at once. */
export const SIGN_IN_HASH = "#sign-in";

const user = signal<User | null>(null);

/** How the person is called. */
export const personName = computed(() => {
  const profile: Record<string, unknown> = user.value?.profile ?? {};
  const name = profile.name ?? profile["cognito:username"] ?? profile.preferred_username ?? profile.email;
  return typeof name === "string" ? name : null;
});

let config: Config | null = null;
let manager: UserManager | null = null;
/** Whose session this tab has or had. */
let person: string | null = null;

/** Finds out whether anybody has to sign in, and who has. */
export async function startSession(): Promise<void> {
  sessionState.value = "loading";
  try {
    config ??= await loadConfig();
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

/** The token that the API wants to be shown; undefined where anybody may call. */
export async function token(): Promise<string | undefined> {
  if (!manager) return undefined;
  // As if the API were not to be reached: whoever calls asks again, with a pause.
  if (user.value?.expired && (await renew()) === "unreachable")
    throw new NetworkError("No answer to a renewal");
  return config?.signIn?.token === "id" ? user.value?.id_token : user.value?.access_token;
}

/** Called when the API has refused the token. Says whether there is another one now; if not for good, the person must sign in again. */
export async function renewRefusedToken(): Promise<boolean> {
  return manager !== null && sessionState.value === "signed-in" && (await renew()) === "renewed";
}

/** Leaves for the sign-in page. It comes back to where the person is now. */
export async function signIn(): Promise<void> {
  signInError.value = null;
  try {
    await manager?.signinRedirect({ state: { path: location.pathname } });
  } catch {
    signInError.value = "unreachable";
  }
}

/** Forgets the tokens in every tab, gives them back, and ends the session at the issuer. */
export async function signOut(): Promise<void> {
  const page = config?.signIn?.hostedPage;
  const clientId = config?.signIn?.clientId ?? "";
  const { id_token: idToken, refresh_token: refreshToken } = user.value ?? {};
  broadcast({ kind: "signed-out" });
  await forget();
  if (manager) await revoke(manager, refreshToken);
  if (page) {
    // Cognito's own way: it has no end_session_endpoint.
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
  setMemoryOwner(person);
  user.value = found;
  sessionState.value = "signed-in";
  // Without the refresh token: of two tabs that use one, an issuer may take the second for a thief.
  const { refresh_token: _, ...shared } = JSON.parse(found.toStorageString());
  broadcast({ kind: "signed-in", user: JSON.stringify(shared) });
}

/** The person signed out, here or in another tab. */
async function forget(): Promise<void> {
  forgetAll();
  person = null;
  user.value = null;
  sessionState.value = "signed-out";
  await manager?.removeUser();
}

/** Goes on by what another tab has got, if the session of the same person has ended here. */
async function adoptSession(stored: string): Promise<void> {
  const found = User.fromStorageString(stored);
  if (sessionState.value !== "expired" || found.profile.sub !== person) return;
  await manager?.storeUser(found);
  // Read back, so that the library knows when it ends.
  const own = await manager?.getUser();
  if (own) accept(own);
}

/** Takes the code with which the sign-in page sent the person back, if it did. */
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

/** What a renewal came to. `ended`: the person must sign in again. */
type Renewal = "renewed" | "ended" | "unreachable";

/** Pauses between the tries of one renewal, in milliseconds: a fault of the issuer's mostly passes within them. */
const RETRY_DELAYS_MS = [500, 1000, 2000];

/** One renewal at a time, however many calls find the token expired. */
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
    // Without a refresh token the library would try a hidden frame, which the page's policy forbids.
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

/** A message. `user` is what oidc-client-ts stores. */
type SessionMessage = { kind: "signed-out" } | { kind: "signed-in"; user: string };

const channel = new BroadcastChannel("longshore.session");

function broadcast(message: SessionMessage): void {
  channel.postMessage(message);
}

/** Calls for what other tabs broadcast, never for what this one does. */
function onMessage(listener: (message: SessionMessage) => void): void {
  channel.onmessage = ({ data }) => listener(data as SessionMessage);
}
