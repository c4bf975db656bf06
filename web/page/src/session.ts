/**
 * Who is signed in. Tokens are in sessionStorage: they end with the tab, and another tab signs in for itself, which
 * takes no more than a redirect while the issuer still knows the person.
 */

import { computed, signal } from "@preact/signals";
import { type User, UserManager, WebStorageStateStore } from "oidc-client-ts";
import { type Config, loadConfig, type SignIn } from "./config";
import { forgetAll } from "./memory";
import { go } from "./router";

/** Where sign-in stands. */
export type Standing = "loading" | "unreachable" | "signed-out" | "expired" | "signed-in" | "open";

/** Where it stands now. */
export const standing = signal<Standing>("loading");

/** What went wrong when the person came back from the sign-in page, if anything. */
export const signInError = signal<string | null>(null);

const user = signal<User | null>(null);

/** How the person is called. */
export const personName = computed(() => {
  const profile: Record<string, unknown> = user.value?.profile ?? {};
  const name = profile.name ?? profile["cognito:username"] ?? profile.preferred_username ?? profile.email;
  return typeof name === "string" ? name : null;
});

let config: Config | null = null;
let manager: UserManager | null = null;

/** Finds out whether anybody has to sign in, and who has. */
export async function startSession(): Promise<void> {
  standing.value = "loading";
  try {
    config = await loadConfig();
  } catch {
    standing.value = "unreachable";
    return;
  }
  if (!config.signIn) {
    standing.value = "open";
    return;
  }
  manager = makeManager(config.signIn);
  manager.events.addUserLoaded(accept);
  manager.events.addAccessTokenExpired(() => void renew());
  await finishSignIn(manager);
  const found = await manager.getUser();
  if (found && !found.expired) accept(found);
  else if (!found) standing.value = "signed-out";
  else if (!(await renew())) standing.value = "expired";
}

/** The token that the API wants to be shown; undefined where anybody may call. */
export async function token(): Promise<string | undefined> {
  if (!manager) return undefined;
  if (user.value?.expired) await renew();
  return config?.signIn?.token === "id" ? user.value?.id_token : user.value?.access_token;
}

/** Called when the API has refused the token. One renewal is tried; after that, the person must sign in again. */
export async function refused(): Promise<void> {
  if (manager && standing.value === "signed-in") await renew();
}

/** Leaves for the sign-in page. It comes back to where the person is now. */
export async function signIn(): Promise<void> {
  await manager?.signinRedirect({ state: { path: location.pathname } });
}

/** Forgets the tokens here and the session at the issuer. */
export async function signOut(): Promise<void> {
  const page = config?.signIn?.hostedPage;
  const clientId = config?.signIn?.clientId ?? "";
  const idToken = user.value?.id_token;
  user.value = null;
  standing.value = "signed-out";
  forgetAll();
  await manager?.removeUser();
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

function makeManager({ issuer, clientId, scope, hostedPage }: SignIn): UserManager {
  const storage = new WebStorageStateStore({ store: sessionStorage });
  const metadata = hostedPage && {
    issuer,
    authorization_endpoint: `${hostedPage}/oauth2/authorize`,
    token_endpoint: `${hostedPage}/oauth2/token`,
  };
  return new UserManager({
    authority: issuer,
    client_id: clientId,
    redirect_uri: `${location.origin}/`,
    response_type: "code",
    scope,
    userStore: storage,
    stateStore: storage,
    automaticSilentRenew: false,
    monitorSession: false,
    ...(metadata ? { metadata } : {}),
  });
}

function accept(found: User): void {
  user.value = found;
  standing.value = "signed-in";
}

/** Takes the code with which the sign-in page sent the person back, if it did. */
async function finishSignIn(manager: UserManager): Promise<void> {
  const query = new URLSearchParams(location.search);
  if (!query.has("state") || !(query.has("code") || query.has("error"))) return;
  try {
    const found = await manager.signinRedirectCallback();
    const state = found.state as { path?: string } | undefined;
    go(state?.path?.startsWith("/") && !state.path.startsWith("//") ? state.path : "/", "replace");
  } catch (error) {
    signInError.value = error instanceof Error ? error.message : String(error);
    go("/", "replace");
  }
}

/** One renewal at a time, however many calls find the token expired. */
let renewing: Promise<boolean> | null = null;

function renew(): Promise<boolean> {
  renewing ??= renewOnce().finally(() => {
    renewing = null;
  });
  return renewing;
}

async function renewOnce(): Promise<boolean> {
  const before = user.value ?? (await manager?.getUser()) ?? null;
  if (!before) return false;
  try {
    // Without a refresh token the library would try a hidden frame, which the page's policy forbids.
    const found = before.refresh_token ? await manager?.signinSilent() : null;
    if (found) {
      accept(found);
      return true;
    }
  } catch (error) {
    // No network is no reason to end a session: whoever asked tries again.
    if (error instanceof TypeError || !navigator.onLine) return false;
  }
  user.value = null;
  await manager?.removeUser();
  standing.value = "expired";
  return false;
}
