/** The issuer of tokens, as OpenID Connect has it: where it is, what its refusals mean, how a token is given back. */

import { ErrorResponse, UserManager, WebStorageStateStore } from "oidc-client-ts";
import type { SignIn } from "./config";

/** The errors of a token endpoint (RFC 6749, 5.2) and of an authorization (OpenID Connect) that asking again does not mend. */
const FINAL = new Set([
  "invalid_grant",
  "invalid_request",
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "login_required",
  "interaction_required",
]);

export function makeManager({ issuer, clientId, scope, hostedPage }: SignIn): UserManager {
  const storage = new WebStorageStateStore({ store: sessionStorage });
  const metadata = hostedPage && {
    issuer,
    authorization_endpoint: `${hostedPage}/oauth2/authorize`,
    token_endpoint: `${hostedPage}/oauth2/token`,
    revocation_endpoint: `${hostedPage}/oauth2/revoke`,
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

/** Whether a renewal failed for good. No network, no answer in time, and a fault of the issuer's pass. */
export function isFinal(error: unknown): boolean {
  if (error instanceof ErrorResponse) return FINAL.has(error.error ?? "");
  // The new ID token is of another person or another sign-in: the library tells by its message alone.
  return error instanceof Error && error.message.includes("id_token");
}

/** Gives the refresh token back, where the issuer takes it. As well as can be: the request outlives the page, its answer is not read. */
export async function revoke(manager: UserManager, token: string | undefined): Promise<void> {
  try {
    const url = token && (await manager.metadataService.getRevocationEndpoint());
    if (!url) return;
    const body = new URLSearchParams({
      token,
      token_type_hint: "refresh_token",
      client_id: manager.settings.client_id,
    });
    void fetch(url, { method: "POST", body, keepalive: true }).catch(() => {});
  } catch {
    // Its addresses are not to be had. The tokens are forgotten here all the same.
  }
}
