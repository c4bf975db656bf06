//! Documents of the API on the command line: tables or JSON, and files with a request.

use std::fs;
use std::io::{Read, stdin};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::api::Api;
use crate::output::exit::{CommandError, Exit};
use crate::output::table;

/// Prints a list: as JSON with this member, or as a table.
pub(crate) fn print_list<const N: usize>(
    entries: &[Value],
    as_json: Option<&str>,
    heading: [&str; N],
    row: impl Fn(&Value) -> [String; N],
) -> Result<()> {
    if let Some(member) = as_json {
        return print(&json!({ member: entries }));
    }
    if entries.is_empty() {
        println!("There are none.");
    } else {
        print!("{}", table::render(heading, entries.iter().map(row)));
    }
    Ok(())
}

/// Prints a document as JSON.
pub(crate) fn print(document: &Value) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(document)?);
    Ok(())
}

/// Returns the text of a member for a table; a dash for none.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a status for a table, with its reason if there is one.
pub(crate) fn status(status: &Value, reason: &Value) -> String {
    match reason.as_str() {
        Some(reason) => format!("{} ({reason})", text(status)),
        None => text(status),
    }
}

/// Reads a request from a file; `-` is standard input.
pub(crate) fn read(file: &Path) -> Result<Value> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        stdin().read_to_string(&mut text).context("cannot read standard input")?;
        text
    } else {
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?
    };
    let invalid = |error| CommandError::new(Exit::Usage, format!("{} is not valid JSON: {error}", file.display()));
    Ok(serde_json::from_str(&text).map_err(invalid)?)
}

/// Creates a resource, or replaces the one with this id, by a request in a file. Prints it.
pub(crate) fn apply(api: &Api, base: &str, id: Option<&str>, file: &Path, action: &str) -> Result<()> {
    let request = read(file)?;
    let answer = match id {
        Some(id) => api.change("PUT", &path(base, id), Some(&request), action)?,
        None => api.change("POST", base, Some(&request), action)?,
    };
    print(&answer.success(action)?.json(action)?)
}

/// Deletes a resource.
pub(crate) fn delete(api: &Api, base: &str, name: &str, action: &str) -> Result<()> {
    api.change("DELETE", &path(base, name), None, action)?.success(action)?;
    println!("{name}: deleted");
    Ok(())
}

/// Returns a path of the API with a name that a person has typed as its last part.
pub(crate) fn path(base: &str, name: &str) -> String {
    let name: String = url::form_urlencoded::byte_serialize(name.trim().as_bytes()).collect();
    format!("{base}/{}", name.replace('+', "%20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(path("/api/jobs", " a/b?c d\n"), "/api/jobs/a%2Fb%3Fc%20d");
    }
}
