/** What the page asks before the start: the reading of a column, the century, and the time zone. */

import { expect, test } from "@playwright/test";
import {
  accessible,
  complete,
  corpus,
  DATES,
  figure,
  fresh,
  open,
  pick,
  pickSchema,
  records,
  start,
  startButton,
} from "./support";

test("a column that can be read in two ways is asked before the start", async ({ page }) => {
  const dataset = fresh("dates");
  await open(page);
  await pick(page, `${dataset}.csv`, corpus("values/dates-ambiguous.csv"));
  await expect(startButton(page)).toBeEnabled();
  await pickSchema(page, DATES);
  const question = page.getByRole("group", { name: '"01/02/2024" in the column "date" means' });
  await expect(question.getByRole("radio")).toHaveCount(2);
  await expect(startButton(page)).toBeDisabled();
  await question.getByRole("radio", { name: "2 January 2024" }).check();
  await expect(startButton(page)).toBeEnabled();
  await question.getByRole("radio", { name: "1 February 2024" }).check();
  await expect(page.getByText("Answer a question before you start")).toHaveCount(0);
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  expect(request.postDataJSON().options.notations).toEqual({ date: { dateOrder: "dmy" } });
  await complete(page);
  expect(await figure(page, "Succeeded")).toBe("3");
  await expect(await records(page, dataset)).toContainText("2024-02-01");
});

test("the century of two-digit years is asked", async ({ page }) => {
  await open(page);
  await pick(page, `${fresh("born")}.csv`, corpus("values/dates-two-digit-years.csv"));
  await pickSchema(page, JSON.stringify({ properties: { born: { type: "string", format: "date" } } }));
  await expect(page.getByText("Years have two digits.")).toBeVisible();
  await expect(startButton(page)).toBeDisabled();
  const year = page.getByLabel("First year of two-digit years");
  await year.fill("19500");
  await expect(page.getByText("Enter a year from 1000 to 9900.")).toBeVisible();
  await year.fill("1930");
  await expect(page.getByText("Enter a year from 1000 to 9900.")).toHaveCount(0);
  await expect(startButton(page)).toBeEnabled();
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  expect(request.postDataJSON().options.pivotYear).toBe(1930);
  await complete(page);
});

test("the time zone of times that name none is asked", async ({ page }) => {
  const dataset = fresh("times");
  const at = { type: "string", format: "date-time" };
  await open(page);
  await pick(page, `${dataset}.csv`, "id,at\n1,13.2.2024 18:30\n");
  await pickSchema(page, JSON.stringify({ properties: { id: { type: "string" }, at } }));
  await expect(page.getByText("Times do not name their time zone.")).toBeVisible();
  await expect(startButton(page)).toBeDisabled();
  const zone = page.getByLabel("Time zone of the times");
  await expect(zone).toHaveValue("");
  await accessible(page, "time-zone");
  await zone.selectOption("Europe/Berlin");
  await expect(startButton(page)).toBeEnabled();
  await expect(zone).toHaveValue("Europe/Berlin");
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), start(page)]);
  expect(request.postDataJSON().options.timeZone).toBe("Europe/Berlin");
  await complete(page);
  await expect(await records(page, dataset)).toContainText("2024-02-13T18:30:00+01:00");
});
