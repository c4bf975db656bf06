// Checks and completes a contact: returns its normalised e-mail address, and the code of its country.

import { reject, retry, skip } from "./longshore-handler.mjs";

const EMAIL = /^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$/;
const COUNTRIES = { france: "FR", germany: "DE", deutschland: "DE", "new zealand": "NZ", türkiye: "TR" };

/** Returns the code of a country, or null. A service would throw a `BusyError` while it is busy. */
async function findCountry(name) {
  return Object.hasOwn(COUNTRIES, name) ? COUNTRIES[name] : null;
}

export class BusyError extends Error {}

/** Processes one record. It has no effect, so it may be repeated; an effect would use `item.key` as its key. */
export async function checkContact(record, item, find = findCountry) {
  const [email, country] = [record.email, record.country].map(normalised);
  if (!email) throw skip("no_email");
  if (!EMAIL.test(email)) throw reject("bad_email", { field: "email", message: "This is not an e-mail address." });
  const code = await find(country).catch((error) => {
    throw error instanceof BusyError ? retry({ reason: "the directory of countries is busy", after: 30 }) : error;
  });
  if (!code) throw reject("unknown_country", { field: "country", message: "No country has this name." });
  return { email, country: code };
}

const normalised = (text) => (text ?? "").normalize("NFKC").trim().toLowerCase();
