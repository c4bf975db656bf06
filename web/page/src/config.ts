/** What the deployment says of itself at `/config.json`: how to sign in, if at all. */

/** How a person signs in, by OpenID Connect; see `functions/web`. */
export interface SignIn {
  /** The issuer of the tokens. */
  issuer: string;
  /** This page, as the issuer knows it. */
  clientId: string;
  /** What is asked for, with spaces between. */
  scope: string;
  /** Which token the API wants to be shown. */
  token: "access" | "id";
  /** Root of a hosted sign-in page of Cognito; null for an issuer that is asked for its own addresses. */
  hostedPage: string | null;
}

/** The answer of `/config.json`. */
export interface Config {
  /** Null where anybody may call. */
  signIn: SignIn | null;
}

/** Asks for it. */
export async function loadConfig(): Promise<Config> {
  const answer = await fetch("/config.json");
  if (!answer.ok) throw new Error(`/config.json: ${answer.status}`);
  return (await answer.json()) as Config;
}
