// A Lambda function of Longshore: `index.handler`, Node 20 or newer.

import { checkContact } from "./contacts.mjs";
import { handler as handlerOf } from "./longshore-handler.mjs";

/** Processes a batch of items, or answers a ping. */
export const handler = handlerOf(checkContact, { modes: ["run", "validate"] });
