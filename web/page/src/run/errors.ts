/** The errors of a refused run, at the part of the form that they are about. */

import type { FieldError } from "longshore-client";
import { escaped } from "./subset";

/** The errors of a request by the part of the form. */
export interface PlacedErrors {
  /** Errors of single options, by the name of the option. */
  readonly fields: ReadonlyMap<string, readonly FieldError[]>;
  /** Errors of the options that no field has. */
  readonly options: readonly FieldError[];
  /** Errors of the file, the items or the dataset. */
  readonly items: readonly FieldError[];
  /** Other errors. */
  readonly others: readonly FieldError[];
}

const ITEMS = ["/fileGuid", "/items", "/source"];

/** Places the errors of a request. `names`: the options that have a field. */
export function placedErrors(errors: readonly FieldError[], names: readonly string[]): PlacedErrors {
  const fields = new Map<string, FieldError[]>();
  const placed = { options: [] as FieldError[], items: [] as FieldError[], others: [] as FieldError[] };
  for (const error of errors) {
    const name = names.find((name) => isAt(error.pointer, name));
    if (name !== undefined) fields.set(name, [...(fields.get(name) ?? []), error]);
    else if (isWithin(error.pointer, "/options")) placed.options.push(error);
    else if (ITEMS.some((part) => isWithin(error.pointer, part))) placed.items.push(error);
    else placed.others.push(error);
  }
  return { fields, ...placed };
}

/** Returns true for the pointer of an option. The server does not escape the name in each of its errors. */
function isAt(pointer: string, name: string): boolean {
  return pointer === `/options/${name}` || isWithin(pointer, `/options/${escaped(name)}`);
}

function isWithin(pointer: string, part: string): boolean {
  return pointer === part || pointer.startsWith(`${part}/`);
}
