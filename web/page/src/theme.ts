/** The colour scheme: the system's, until the user chooses. The choice is kept in this browser. */

import { signal } from "@preact/signals";

type Theme = "light" | "dark";

const KEY = "longshore.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const stored = localStorage.getItem(KEY);
const chosen = signal<Theme | null>(stored === "light" || stored === "dark" ? stored : null);

/** Returns the current scheme. */
export function currentTheme(): Theme {
  return chosen.value ?? (system.matches ? "dark" : "light");
}

/** Applies the user's choice, if any; style sheets follow the system otherwise. */
export function applyTheme(): void {
  if (chosen.value) document.documentElement.dataset.theme = chosen.value;
}

/** Switches to the other scheme. */
export function switchTheme(): void {
  chosen.value = currentTheme() === "dark" ? "light" : "dark";
  localStorage.setItem(KEY, chosen.value);
  applyTheme();
}
