//! Checks a file's header against the options. A header with which every row would fail is an error before the first
//! row is processed. A suspicious header is an issue, visible while the job runs.

use longshore_domain::job::JobError;
use longshore_domain::text::{listed, quoted};

use super::schema::Schema;

/// Checks a header.
///
/// # Errors
/// `key_not_in_header`, `duplicate_column`, `required_column_missing`.
pub(super) fn check(key: &str, schema: Option<&Schema>, columns: &[String]) -> Result<Vec<JobError>, JobError> {
    if let Some(twice) = first_duplicate(columns) {
        let message = format!("the header has two columns {}; rename or remove one of them", quoted(twice));
        return Err(JobError::new("duplicate_column", message));
    }
    if !columns.iter().any(|column| column == key) {
        return Err(JobError::new("key_not_in_header", key_not_in_header(key, columns)));
    }
    let required = schema.map(Schema::required).unwrap_or_default();
    let missing: Vec<_> = required.iter().filter(|name| !columns.contains(name)).map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(JobError::new("required_column_missing", required_column_missing(&missing, columns)));
    }
    Ok(issues(schema, columns))
}

fn issues(schema: Option<&Schema>, columns: &[String]) -> Vec<JobError> {
    let mut issues = Vec::new();
    let nameless: Vec<_> =
        columns.iter().enumerate().filter(|(_, c)| c.is_empty()).map(|(at, _)| (at + 1).to_string()).collect();
    if !nameless.is_empty() {
        let numbers = listed(nameless.iter().map(String::as_str));
        let message = format!("columns without a name in the header are not imported: {numbers}");
        issues.push(JobError::new("column_without_name", message));
    }
    let unknown = |column: &&String| !column.is_empty() && schema.is_some_and(|schema| !schema.knows(column));
    let unknown: Vec<_> = columns.iter().filter(unknown).map(String::as_str).collect();
    if !unknown.is_empty() {
        let message = format!("columns without a property in the schema are imported as text: {}", listed(unknown));
        issues.push(JobError::new("column_not_in_schema", message));
    }
    issues
}

/// Returns the first repeated column name. Columns without a name are not imported, so they may be repeated.
fn first_duplicate(columns: &[String]) -> Option<&str> {
    let mut sorted: Vec<_> = columns.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn key_not_in_header(key: &str, columns: &[String]) -> String {
    let hint = similar(key, columns).map_or_else(
        || String::from("set the option key to the column that identifies a row"),
        |column| format!("did you mean {}?", quoted(column)),
    );
    format!("the key column {} is not in the header, which has {}; {hint}", quoted(key), listed_all(columns))
}

fn required_column_missing(missing: &[&str], columns: &[String]) -> String {
    let hints = missing.iter().filter_map(|name| Some((name, similar(name, columns)?)));
    let hint = hints.map(|(name, column)| format!("; is {} meant to be {}?", quoted(column), quoted(name))).next();
    let hint = hint.unwrap_or_default();
    let (missing, columns) = (listed(missing.iter().copied()), listed_all(columns));
    format!(
        "the schema requires {missing}, which no column provides, so every row would fail; the header has \
         {columns}{hint}"
    )
}

/// Returns the column that differs from a name only in case, spaces or punctuation.
fn similar<'a>(name: &str, columns: &'a [String]) -> Option<&'a str> {
    let bare =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let expected = bare(name);
    columns.iter().find(|column| !expected.is_empty() && bare(column) == expected).map(String::as_str)
}

fn listed_all(columns: &[String]) -> String {
    listed(columns.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::schema::Schema;
    use super::check;

    fn columns(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn error(key: &str, schema: Option<&Schema>, names: &[&str]) -> (String, String) {
        let error = check(key, schema, &columns(names)).unwrap_err();
        (error.code, error.message)
    }

    #[test]
    fn a_missing_key_column_is_reported_with_a_solution() {
        let (code, message) = error("email", None, &["name", " E-Mail"]);
        assert_eq!(code, "key_not_in_header");
        assert_eq!(
            message,
            r#"the key column "email" is not in the header, which has "name", " E-Mail"; did you mean " E-Mail"?"#
        );
        let many: Vec<String> = (0..30).map(|n| format!("c{n}")).collect();
        let message = check("id", None, &many).unwrap_err().message;
        assert!(message.contains(r#""c19" and 10 more; set the option key"#), "{message}");
    }

    #[test]
    fn two_columns_with_one_name_are_an_error() {
        assert_eq!(error("id", None, &["id", "a", "id"]).0, "duplicate_column");
    }

    #[test]
    fn a_required_property_without_a_column_is_an_error() {
        let schema = Schema::compile(&json!({"properties": {"id": {}}, "required": ["id", "zip code"]})).unwrap();
        let (code, message) = error("id", Some(&schema), &["id", "Zip_Code"]);
        assert_eq!(code, "required_column_missing");
        assert!(message.ends_with(r#"is "Zip_Code" meant to be "zip code"?"#), "{message}");
    }

    #[test]
    fn messages_are_short_even_if_the_first_line_is_not_a_header() {
        let long = "x".repeat(200_000);
        let many: Vec<String> = (0..9_000).map(|n| format!("{n}{long}")).take(50).collect();
        let schema = Schema::compile(&json!({"properties": {"id": {}}, "required": ["name"]})).unwrap();
        let [missing, twice] = [many.clone(), vec![long.clone(), long.clone()]];
        assert!(check("id", None, &missing).unwrap_err().message.len() < 3_000);
        assert!(check("id", None, &twice).unwrap_err().message.len() < 300);
        let keyed: Vec<_> = ["id".to_owned()].into_iter().chain(many).collect();
        assert!(check("id", Some(&schema), &keyed).unwrap_err().message.len() < 3_000);
        let schema = Schema::compile(&json!({"properties": {"id": {}}})).unwrap();
        let issues = check("id", Some(&schema), &keyed).unwrap();
        assert!(issues[0].message.len() < 3_000 && issues[0].message.contains(" more"), "{}", issues[0].message);
        assert!(check(&long, None, &keyed).unwrap_err().message.len() < 3_000);
    }

    #[test]
    fn suspicious_columns_are_issues() {
        let schema = Schema::compile(&json!({"properties": {"id": {}}})).unwrap();
        let issues = check("id", Some(&schema), &columns(&["id", "extra", "", "more", ""])).unwrap();
        let codes: Vec<_> = issues.iter().map(|issue| issue.code.as_str()).collect();
        assert_eq!(codes, ["column_without_name", "column_not_in_schema"]);
        assert!(issues[1].message.contains(r#""extra", "more""#));
        assert_eq!(check("id", None, &columns(&["id", "extra"])), Ok(vec![]));
        let open = Schema::compile(&json!({"properties": {"id": {}}, "patternProperties": {"^x": {}}})).unwrap();
        assert_eq!(check("id", Some(&open), &columns(&["id", "x1"])), Ok(vec![]));
    }
}
