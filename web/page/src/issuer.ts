/**
 * The sign-in of the deployment: its configuration from `/config.json`, and the OpenID Connect issuer with its
 * endpoints, its errors, and revocation of tokens.
 */

import { ErrorResponse, UserManager, WebStorageStateStore } from "oidc-client-ts";
import type { OperatorRule } from "./operator";

/** The OpenID Connect settings; see `functions/web`. */
export interface SignIn {
  /** The issuer of the tokens. */
  issuer: string;
  /** The page's client id at the issuer. */
  clientId: string;
  /** The requested scopes, separated by spaces. */
  scope: string;
  /** The token that the API expects. */
  token: "access" | "id";
  /** The root of Cognito's hosted sign-in page; null for an issuer that publishes its endpoints. */
  hostedPage: string | null;
  /** The words in the API's token that identify operators. Absent in deployments of an earlier version. */
  operators?: OperatorRule;
}

/** The content of `/config.json`. */
export interface Config {
  /** Null if the deployment needs no sign-in. */
  signIn: SignIn | null;
  /** The URL of the runbook; null if it is not set. Absent in deployments of an earlier version. */
  runbookUrl?: string | null;
}

/** Loads the configuration. */
export async function loadConfig(): Promise<Config> {
  const answer = await fetch("/config.json");
  if (!answer.ok) throw new Error(`/config.json: ${answer.status}`);
  return (await answer.json()) as Config;
}

/**
 * Permanent errors of the token endpoint (RFC 6749, 5.2) and of the authorization endpoint (OpenID Connect).
 */
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

/**
 * Returns true if a renewal has failed permanently. Network failures, timeouts and server errors are
 * transient.
 */
export function isFinal(error: unknown): boolean {
  if (error instanceof ErrorResponse) return FINAL.has(error.error ?? "");
  // The new ID token belongs to another user or sign-in. The library reports this only in the message.
  return error instanceof Error && error.message.includes("id_token");
}

/**
 * Revokes the refresh token, if the issuer supports it. Best effort: the request outlives the page, and its
 * response is not read.
 */
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
    // The endpoints are unknown. The tokens are deleted locally anyway.
  }
}
