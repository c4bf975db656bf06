/** The checks that every view passes: accessibility, and no sideways scrolling of the page. */

import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { picture } from "./support";

/** The widths of a small phone, a tablet and a wide screen. */
export const WIDTHS = [320, 768, 1440];

/**
 * Checks that axe finds no violation in either colour scheme, and that the page does not scroll sideways at any
 * width. Saves a picture of each under `.longshore/screenshots`.
 */
export async function accessible(page: Page, view: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, `${view}, ${width} pixels wide`).toBeLessThanOrEqual(width);
      for (const table of await page.locator(".cards").all()) {
        const cut = await table.evaluate((it) => it.scrollWidth - it.clientWidth);
        expect(cut, `${view}, ${width} pixels wide: cut off`).toBeLessThanOrEqual(0);
        expect(await table.getByRole("columnheader").count()).toBeGreaterThan(2);
      }
      const path = picture(`${view}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true, animations: "disabled" });
    }
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    expect(found, `${view}, ${colorScheme}`).toEqual([]);
  }
}
