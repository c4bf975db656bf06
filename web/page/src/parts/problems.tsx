/** What would fail every row, said before anything is started. */

import type { FileProblem } from "../file/problems";
import { text } from "../text";
import { delimiterName } from "./file-card";

export function Problems({ problems }: { problems: FileProblem[] }) {
  return (
    <div role="status">
      {problems.length > 0 && (
        <div class="notice bad">
          <div>
            <strong>{text.problems.title}</strong>
            <ul>
              {problems.map((problem) => (
                <li key={JSON.stringify(problem)}>{sentence(problem)}</li>
              ))}
            </ul>
          </div>
        </div>
      )}
    </div>
  );
}

function sentence(problem: FileProblem): string {
  const t = text.problems;
  switch (problem.kind) {
    case "delimiter":
      return t.delimiter(delimiterName(problem.delimiter));
    case "duplicate-column":
      return t["duplicate-column"](problem.column);
    case "no-key":
      return t["no-key"](problem.key);
    case "missing-field":
      return t["missing-field"](problem.field);
    case "unknown-columns":
      return t["unknown-columns"](problem.columns);
    case "every-row":
      return t["every-row"](problem.field, problem.reason, problem.rows);
    case "no-rows":
    case "not-json":
      return t[problem.kind];
  }
}
