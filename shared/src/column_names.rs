//! The names of the columns of a CSV file.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use longshore_domain::job::JobError;
use longshore_domain::text::listed;

/// Maximum number of columns. A file with more columns is not a table, or has other separators than commas.
const MAX_COLUMNS: usize = 10_000;

/// Returns the names of the columns: trimmed, unique; a column without a name is named by its position, and columns with
/// the same name are numbered. A byte order mark before a name, as in two joined files with one mark each, is invisible
/// and so is removed.
pub(crate) fn name_columns(cells: &[&[u8]]) -> Result<(Vec<String>, Vec<JobError>), JobError> {
    if cells.len() > MAX_COLUMNS {
        return Err(too_many_columns(cells.len()));
    }
    let name = |cell: &&[u8]| {
        String::from_utf8_lossy(cell).trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
    };
    let mut columns: Vec<String> = cells.iter().map(name).collect();
    // Names that no other column may get.
    let named: BTreeSet<String> = columns.iter().cloned().collect();
    let by_position = (1..=columns.len()).map(|i| format!("column_{i}"));
    let mut taken: BTreeSet<String> = named.iter().cloned().chain(by_position).collect();
    let mut free = |name: &str, next: &mut usize| loop {
        let candidate = format!("{name}_{next}");
        *next += 1;
        if !taken.contains(&candidate) {
            taken.insert(candidate.clone());
            return candidate;
        }
    };
    // After the columns, so that no search begins again.
    let mut behind = columns.len() + 1;
    let (mut seen, mut unnamed, mut repeated) = (BTreeMap::<String, usize>::new(), Vec::new(), Vec::new());
    for (i, column) in (1..).zip(&mut columns) {
        if column.is_empty() {
            let by_position = format!("column_{i}");
            let is_free = !named.contains(&by_position);
            *column = if is_free { by_position } else { free("column", &mut behind) };
            unnamed.push(column.clone());
            continue;
        }
        match seen.get_mut(column) {
            None => drop(seen.insert(column.clone(), 2)),
            Some(next) => {
                *column = free(&mem::take(column), next);
                repeated.push(column.clone());
            }
        }
    }
    let issue = |code, what: &str, names: &[String]| {
        let message = format!("{what} {}", listed(names.iter().map(String::as_str)));
        (!names.is_empty()).then(|| JobError::new(code, message))
    };
    let issues = [
        issue("unnamed_column", "columns without a name were named", &unnamed),
        issue("repeated_column", "columns with the name of another one were named", &repeated),
    ];
    Ok((columns, issues.into_iter().flatten().collect()))
}

fn too_many_columns(columns: usize) -> JobError {
    let message = format!(
        "the first line has {columns} columns, but a file may have up to {MAX_COLUMNS}; check that the first line is \
         the header, and that each row is on its own line"
    );
    JobError::new("too_many_columns", message)
}

#[cfg(test)]
mod tests {
    use longshore_domain::job::JobError;

    use super::{MAX_COLUMNS, name_columns};

    fn named(header: &str) -> Result<(Vec<String>, Vec<JobError>), JobError> {
        name_columns(&header.split(',').map(str::as_bytes).collect::<Vec<_>>())
    }

    fn header(columns: usize) -> String {
        (0..columns).map(|n| format!("c{n}")).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn a_file_may_have_ten_thousand_columns() {
        assert_eq!(named(&header(MAX_COLUMNS)).unwrap().0.len(), MAX_COLUMNS);
        for many in [header(MAX_COLUMNS + 1), header(30_000), ",".repeat(200_000)] {
            let error = named(&many).unwrap_err();
            assert_eq!(error.code, "too_many_columns");
            assert!(error.message.contains("up to 10000"), "{}", error.message);
        }
    }

    #[test]
    fn messages_about_a_header_are_short() {
        let (columns, issues) = named(&",".repeat(9_000)).unwrap();
        assert_eq!((columns.len(), columns[8_999].as_str()), (9_001, "column_9000"));
        assert!(issues[0].message.ends_with("and 8981 more") && issues[0].message.len() < 500, "{:?}", issues[0]);
        let (columns, issues) = named(&"x,".repeat(9_999)).unwrap();
        assert_eq!((columns[9_998].as_str(), columns[9_999].as_str()), ("x_9999", "column_10000"));
        assert!(issues[1].message.len() < 500, "{:?}", issues[1]);
    }

    #[test]
    fn columns_are_named_apart() {
        for (header, expected, codes) in [
            ("a, b ", "a,b", &[][..]),
            ("a,a,a", "a,a_2,a_3", &["repeated_column"]),
            ("a,a,a_2,a", "a,a_3,a_2,a_4", &["repeated_column"]),
            (",column_1,a,", "column_5,column_1,a,column_4", &["unnamed_column"]),
            ("a,,a", "a,column_2,a_2", &["unnamed_column", "repeated_column"]),
            ("\u{feff}a,\u{feff}a ", "a,a_2", &["repeated_column"]),
        ] {
            let (columns, issues) = named(header).unwrap();
            assert_eq!(columns.join(","), expected);
            assert_eq!(issues.iter().map(|issue| issue.code.as_str()).collect::<Vec<_>>(), codes, "{header}");
        }
    }
}
