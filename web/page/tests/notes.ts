/** Records skipped and repeated tests, a line each, which `cargo xtask test` counts. */

import { appendFileSync } from "node:fs";
import type { Reporter, TestCase, TestResult } from "@playwright/test/reporter";

export default class Notes implements Reporter {
  onTestEnd(test: TestCase, result: TestResult): void {
    const path = process.env.LONGSHORE_TEST_NOTES;
    const kind = result.retry > 0 ? "repeated" : result.status === "skipped" ? "skipped" : undefined;
    if (path && kind) appendFileSync(path, `${kind}\tpage: ${test.title}\n`);
  }
}
