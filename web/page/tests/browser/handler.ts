/** A job type of the local stack, registered by its operator, with a handler that answers `ok` for each item. */

import { createClient, type JobTypeTarget } from "longshore-client";
import { stack } from "./support";

/** A registered type, and an option of it. */
export interface Registered {
  readonly name: string;
  /** The title of the option, a value that its pattern allows, and one that it does not. */
  readonly option: { readonly title: string; readonly value: string; readonly refused: string };
}

const NAME = "page-story";

/**
 * Registers the type, and waits until it is active. The handler is `LONGSHORE_TEST_HANDLER`: the ARN of an alias of a
 * function, or a URL that the stack allows.
 */
export async function handler(): Promise<Registered> {
  const { apiUrl, users } = stack();
  const operator = users.find(({ name }) => name === "operator");
  if (!operator) throw new Error("The local stack has no operator.");
  const client = createClient({ baseUrl: apiUrl, token: () => operator.token });
  await client.putJobType(NAME, {
    target: target(),
    description: "Sends invitations to an event.",
    optionsSchema: {
      type: "object",
      required: ["event"],
      properties: { event: { type: "string", title: "Event", pattern: "^[a-z]+$" } },
    },
  });
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { candidate } = await client.getJobType(NAME);
    if (!candidate) return { name: NAME, option: { title: "Event", value: "launch", refused: "LAUNCH" } };
    if (candidate.status === "refused") throw new Error(`The handler was refused: ${candidate.reason}`);
    if (Date.now() > deadline) throw new Error("The handler was not pinged within a minute.");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function target(): JobTypeTarget {
  const address = process.env.LONGSHORE_TEST_HANDLER;
  if (!address) throw new Error("LONGSHORE_TEST_HANDLER has no address of a handler.");
  return address.startsWith("arn:") ? { function: address } : { url: address };
}
