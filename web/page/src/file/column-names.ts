/** The names of the columns of a CSV file, as the import gives them (`shared/src/column_names.rs`). */

/**
 * Returns the names: trimmed and unique. A column without a name is named by its position, and columns with the same
 * name are numbered.
 */
export function nameColumns(header: string[]): string[] {
  const names = header.map((name) => name.trim());
  const named = new Set(names);
  const taken = new Set([...named, ...names.map((_, at) => `column_${at + 1}`)]);
  const last = new Map<string, number>();
  const free = (name: string, first: number): string => {
    let next = last.get(name) ?? first;
    while (taken.has(`${name}_${next}`)) next++;
    taken.add(`${name}_${next}`);
    last.set(name, next + 1);
    return `${name}_${next}`;
  };
  const seen = new Set<string>();
  return names.map((name, at) => {
    if (name === "") {
      const byPosition = `column_${at + 1}`;
      return named.has(byPosition) ? free("column", names.length + 1) : byPosition;
    }
    if (seen.has(name)) return free(name, 2);
    seen.add(name);
    return name;
  });
}
