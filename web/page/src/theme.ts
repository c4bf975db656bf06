/** Light or dark: as the system says, until the person chooses. The choice is kept in this browser. */

import { signal } from "@preact/signals";

type Theme = "light" | "dark";

const KEY = "longshore.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const stored = localStorage.getItem(KEY);
const chosen = signal<Theme | null>(stored === "light" || stored === "dark" ? stored : null);

/** What is shown now. */
export function currentTheme(): Theme {
  return chosen.value ?? (system.matches ? "dark" : "light");
}

/** Shows the choice, if there is one; style sheets follow the system otherwise. */
export function applyTheme(): void {
  if (chosen.value) document.documentElement.dataset.theme = chosen.value;
}

/** Chooses the other one. */
export function switchTheme(): void {
  chosen.value = currentTheme() === "dark" ? "light" : "dark";
  localStorage.setItem(KEY, chosen.value);
  applyTheme();
}
