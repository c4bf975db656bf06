/** The problems and warnings of a file, shown before the start. */

import { type FileProblem, isBlocking } from "../file/problems";
import { text } from "../text";
import { delimiterName } from "./file-card";

export function Problems({ problems }: { problems: FileProblem[] }) {
  const blocking = problems.some(isBlocking);
  return (
    <div role="status">
      {problems.length > 0 && (
        <div class={`notice ${blocking ? "bad" : "warn"}`}>
          <div>
            <strong>{blocking ? text.problems.title : text.warnings.title}</strong>
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
  const t = { ...text.problems, ...text.warnings };
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
    case "key-empty":
      return t["key-empty"](problem.key, problem.rows, problem.of);
    case "key-repeats":
      return t["key-repeats"](problem.key, problem.value);
    case "bad-lines":
      return t["bad-lines"](problem.lines);
    case "cells":
      return t.cells(problem.more, problem.rows);
    case "every-row":
      return t["every-row"](problem.field, problem.reason, problem.rows);
    case "no-rows":
    case "not-json":
    case "schema-not-supported":
      return t[problem.kind];
  }
}
