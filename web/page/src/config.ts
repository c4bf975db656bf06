/** The deployment's configuration from `/config.json`: how to sign in, if at all. */

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
}

/** The content of `/config.json`. */
export interface Config {
  /** Null if the deployment needs no sign-in. */
  signIn: SignIn | null;
}

/** Loads the configuration. */
export async function loadConfig(): Promise<Config> {
  const answer = await fetch("/config.json");
  if (!answer.ok) throw new Error(`/config.json: ${answer.status}`);
  return (await answer.json()) as Config;
}
