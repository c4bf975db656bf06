/** The browser of the tests of client and page: one that is on the machine. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Names under which systems have it. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Where Chromium is: by the variable `CHROMIUM`, or where systems have it. */
export function chromium(): string {
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((dir) => NAMES.map((name) => join(dir, name)));
  const found = [process.env.CHROMIUM ?? "", ...onPath, ...MAC].find((path) => path && existsSync(path));
  if (found) return found;
  throw new Error(
    "Chromium is needed for the tests of the page and was not found.\n" +
      "Install it (Debian: apt install chromium; macOS: brew install --cask chromium), or name a Chromium or Chrome by the variable CHROMIUM.",
  );
}

/** How it is started: without what it would do on a person's machine. */
export const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
