/**
 * The user's role for all tenants, read from the token that the API gets. It decides only what the page shows: the API
 * checks each call itself.
 */

/** The claim that identifies operators, and its words; see `functions/web`. */
export interface OperatorRule {
  claim: string;
  /** The word of operators. */
  group: string;
  /** The word of read-only operators; null if there are none. */
  readOnlyGroup: string | null;
}

/** What a user may do for all tenants: everything, only read, or nothing. */
export type Role = "operator" | "read-only" | null;

/** Returns the role of a token's user. */
export function roleOf(token: string | undefined, rule: OperatorRule | undefined): Role {
  if (!token || !rule) return null;
  const words = wordsOf(claimsOf(token)[rule.claim]);
  if (words.includes(rule.group)) return "operator";
  return rule.readOnlyGroup !== null && words.includes(rule.readOnlyGroup) ? "read-only" : null;
}

/** Returns the claims of a token; none if it cannot be read. */
function claimsOf(token: string): Record<string, unknown> {
  const [, payload = ""] = token.split(".");
  try {
    const bytes = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
    const text = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    const claims: unknown = JSON.parse(text);
    return typeof claims === "object" && claims !== null ? (claims as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Returns the words of a claim: a list, or a text with spaces between them. */
function wordsOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((word) => typeof word === "string");
  return typeof claim === "string" ? claim.split(" ") : [];
}
