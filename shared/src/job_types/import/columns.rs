//! Checks a file's header against the options. A header with which every row would fail is an error before the first
//! row is processed. A suspicious header is an issue, visible while the job runs.

use std::collections::{BTreeSet, HashMap, HashSet};

use longshore_domain::job::JobError;
use longshore_domain::text::{listed, quoted};

use super::options::ImportOptions;
use super::row_reader::original_text;
use super::schema::Schema;

/// Checks the columns of a header, and the properties that the options map them to.
///
/// # Errors
/// `key_not_in_header`, `duplicate_column`, `required_column_missing`.
pub(super) fn check(
    options: &ImportOptions,
    columns: &[String],
    properties: &[Option<String>],
) -> Result<Vec<JobError>, JobError> {
    if let Some([first, second]) = same_property(columns, properties) {
        let message = format!(
            "the columns {} and {} are the same property; rename or leave out one of them with the option columns",
            quoted(first),
            quoted(second)
        );
        return Err(JobError::new("duplicate_column", message));
    }
    let named: Vec<String> = properties.iter().flatten().cloned().collect();
    if !named.contains(&options.key) {
        return Err(JobError::new("key_not_in_header", key_not_in_header(options, &named)));
    }
    let schema = options.row_schema();
    let required = schema.map(Schema::required).unwrap_or_default();
    let missing: Vec<_> = required.iter().filter(|name| !named.contains(name)).map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(JobError::new("required_column_missing", required_column_missing(&missing, &named)));
    }
    let names: Vec<_> =
        columns.iter().map(|name| original_text(options.formulas, name.as_bytes()).into_owned()).collect();
    Ok(issues(options, schema, &names, &named))
}

fn issues(
    options: &ImportOptions,
    schema: Option<&Schema>,
    columns: &[String],
    properties: &[String],
) -> Vec<JobError> {
    let mut issues = Vec::new();
    // An earlier version has stored columns without a name.
    let nameless = (1..).zip(columns).filter(|(_, column)| column.is_empty());
    let nameless: Vec<_> = nameless.map(|(number, _): (usize, _)| number.to_string()).collect();
    if !nameless.is_empty() {
        let numbers = listed(nameless.iter().map(String::as_str));
        let message = format!("columns without a name in the header are not imported: {numbers}");
        issues.push(JobError::new("column_without_name", message));
    }
    let in_header: HashSet<_> = columns.iter().collect();
    let absent: Vec<_> =
        options.columns.keys().filter(|column| !in_header.contains(column)).map(String::as_str).collect();
    if let Some(first) = absent.first() {
        let hint = similar(first, columns).map(|column| format!("; did you mean {}?", quoted(column)));
        let message = format!(
            "the option columns names columns that the header does not have: {}; the header has {}{}",
            listed(absent.iter().copied()),
            listed_all(columns),
            hint.unwrap_or_default()
        );
        issues.push(JobError::new("mapped_column_missing", message));
    }
    let of_properties = options.values.keys().chain(options.notations.keys());
    let in_file: HashSet<_> = properties.iter().collect();
    let absent: BTreeSet<_> = of_properties.filter(|name| !in_file.contains(name)).map(String::as_str).collect();
    if !absent.is_empty() {
        let message =
            format!("the options values and notations name properties that no column has: {}", listed(absent));
        issues.push(JobError::new("mapped_property_missing", message));
    }
    let unknown = |property: &&String| schema.is_some_and(|schema| !schema.knows(property));
    let unknown: Vec<_> = properties.iter().filter(unknown).map(String::as_str).collect();
    if !unknown.is_empty() {
        let message = format!("columns without a property in the schema are imported as text: {}", listed(unknown));
        issues.push(JobError::new("column_not_in_schema", message));
    }
    issues
}

/// Returns the first two columns with the same property.
fn same_property<'a>(columns: &'a [String], properties: &'a [Option<String>]) -> Option<[&'a str; 2]> {
    let mut seen = HashMap::new();
    columns.iter().zip(properties).find_map(|(column, property)| {
        let first = seen.insert(property.as_deref()?, column.as_str())?;
        Some([first, column])
    })
}

fn key_not_in_header(options: &ImportOptions, properties: &[String]) -> String {
    let key = &options.key;
    let hint = match (similar(key, properties), options.columns.get(key)) {
        (_, Some(Some(property))) => format!("the column {} is mapped to {}", quoted(key), quoted(property)),
        (Some(column), _) => format!("did you mean {}?", quoted(column)),
        (None, _) => String::from(
            "set the option key to the column that identifies a row, or map a column to it with the option columns",
        ),
    };
    format!("the key column {} is not in the header, which has {}; {hint}", quoted(key), listed_all(properties))
}

fn required_column_missing(missing: &[&str], properties: &[String]) -> String {
    let hints = missing.iter().filter_map(|name| Some((name, similar(name, properties)?)));
    let hint = hints.map(|(name, column)| format!("; is {} meant to be {}?", quoted(column), quoted(name))).next();
    let hint = hint.unwrap_or_default();
    let (missing, properties) = (listed(missing.iter().copied()), listed_all(properties));
    format!(
        "the schema requires {missing}, which no column provides, so every row would fail; the columns are \
         {properties}{hint}"
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
    use longshore_domain::job::JobError;
    use serde_json::{Value, json};

    use super::super::options::ImportOptions;
    use super::super::row_reader::properties;

    fn check(options: &Value, columns: &[String]) -> Result<Vec<JobError>, JobError> {
        let options: ImportOptions = serde_json::from_value(options.clone()).unwrap();
        assert_eq!(options.check(), []);
        super::check(&options, columns, &properties(&options, columns))
    }

    fn options(key: &str, schema: Value) -> Value {
        json!({ "dataset": "d", "key": key, "schema": schema })
    }

    fn columns(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn error(options: &Value, names: &[&str]) -> (String, String) {
        let error = check(options, &columns(names)).unwrap_err();
        (error.code, error.message)
    }

    #[test]
    fn a_missing_key_column_is_reported_with_a_solution() {
        let (code, message) = error(&options("email", json!({})), &["name", " E-Mail"]);
        assert_eq!(code, "key_not_in_header");
        assert_eq!(
            message,
            r#"the key column "email" is not in the header, which has "name", " E-Mail"; did you mean " E-Mail"?"#
        );
        let many: Vec<String> = (0..30).map(|n| format!("c{n}")).collect();
        let message = check(&options("id", json!({})), &many).unwrap_err().message;
        assert!(message.contains(r#""c19" and 10 more; set the option key"#), "{message}");
    }

    #[test]
    fn two_columns_of_one_property_are_an_error() {
        assert_eq!(error(&options("id", json!({})), &["id", "a", "id"]).0, "duplicate_column");
        let mapped = json!({ "dataset": "d", "key": "id", "columns": { "Nr": "id" } });
        let (code, message) = error(&mapped, &["id", "Nr"]);
        assert_eq!(code, "duplicate_column");
        assert!(message.starts_with(r#"the columns "id" and "Nr" are the same property"#), "{message}");
    }

    #[test]
    fn columns_are_mapped_to_properties() {
        let mapped = json!({ "dataset": "d", "key": "id", "columns": { "Nr": "id", "Notes": null, "Ort": "city" },
            "schema": { "properties": { "id": {}, "city": {} }, "required": ["id", "city"] } });
        assert_eq!(check(&mapped, &columns(&["Nr", "Notes", "Ort"])), Ok(vec![]));
        let optional = json!({ "dataset": "d", "key": "id", "columns": { "Nr": "id", "Ort": "city" } });
        let issues = check(&optional, &columns(&["Nr"])).unwrap();
        assert_eq!((issues.len(), issues[0].code.as_str()), (1, "mapped_column_missing"));
        assert!(issues[0].message.contains(r#": "Ort"; the header has "Nr""#), "{}", issues[0].message);
        let unknown = json!({ "dataset": "d", "key": "id", "columns": { "Nr": "id" },
            "values": { "Nr": { "1": "2" } }, "notations": { "id": {} } });
        let issues = check(&unknown, &columns(&["Nr"])).unwrap();
        assert_eq!((issues.len(), issues[0].code.as_str()), (1, "mapped_property_missing"));
        let (_, message) = error(&json!({ "dataset": "d", "key": "Nr", "columns": { "Nr": "id" } }), &["Nr"]);
        assert!(message.ends_with(r#"the column "Nr" is mapped to "id""#), "{message}");
        let escaped = json!({ "dataset": "d", "key": "=id", "formulas": "escaped", "columns": { "=x": "y" } });
        assert_eq!(check(&escaped, &columns(&["'=id", "'=x"])), Ok(vec![]));
    }

    #[test]
    fn a_required_property_without_a_column_is_an_error() {
        let schema = json!({"properties": {"id": {}}, "required": ["id", "zip code"]});
        let (code, message) = error(&options("id", schema), &["id", "Zip_Code"]);
        assert_eq!(code, "required_column_missing");
        assert!(message.ends_with(r#"is "Zip_Code" meant to be "zip code"?"#), "{message}");
    }

    #[test]
    fn messages_are_short_even_if_the_first_line_is_not_a_header() {
        let long = "x".repeat(200_000);
        let many: Vec<String> = (0..9_000).map(|n| format!("{n}{long}")).take(50).collect();
        let plain = options("id", json!({}));
        let [missing, twice] = [many.clone(), vec![long.clone(), long.clone()]];
        assert!(check(&plain, &missing).unwrap_err().message.len() < 3_000);
        assert!(check(&plain, &twice).unwrap_err().message.len() < 500);
        let keyed: Vec<_> = ["id".to_owned()].into_iter().chain(many).collect();
        let required = options("id", json!({"properties": {"id": {}}, "required": ["name"]}));
        assert!(check(&required, &keyed).unwrap_err().message.len() < 3_000);
        let issues = check(&options("id", json!({"properties": {"id": {}}})), &keyed).unwrap();
        assert!(issues[0].message.len() < 3_000 && issues[0].message.contains(" more"), "{}", issues[0].message);
        assert!(check(&options(&long, json!({})), &keyed).unwrap_err().message.len() < 3_000);
    }

    #[test]
    fn suspicious_columns_are_issues() {
        let closed = options("id", json!({"properties": {"id": {}}}));
        let issues = check(&closed, &columns(&["id", "extra", "", "more", ""])).unwrap();
        let codes: Vec<_> = issues.iter().map(|issue| issue.code.as_str()).collect();
        assert_eq!(codes, ["column_without_name", "column_not_in_schema"]);
        assert!(issues[1].message.contains(r#""extra", "more""#));
        assert_eq!(check(&options("id", json!({})), &columns(&["id", "extra"])), Ok(vec![]));
        let open = options("id", json!({"properties": {"id": {}}, "patternProperties": {"^x": {}}}));
        assert_eq!(check(&open, &columns(&["id", "x1"])), Ok(vec![]));
    }
}
