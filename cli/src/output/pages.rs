//! Lists of the API, page by page, and paths with a query.

use anyhow::{Result, bail};
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::api::Api;

/// Maximum number of pages of one list: a page can be empty although more follow.
const PAGES: usize = 1_000;

/// A list of the API.
#[derive(Copy, Clone)]
pub(crate) struct List {
    /// Description of the call, for errors.
    pub(crate) action: &'static str,
    /// The list's member of each page.
    pub(crate) member: &'static str,
}

/// Returns all entries of the list at a path without a query.
///
/// # Errors
/// If a page cannot be read, or there are too many.
pub(crate) fn all(api: &Api, list: List, path: &str) -> Result<Vec<Value>> {
    entries(api, list, usize::MAX, |cursor| query(path, &[("cursor", cursor)]))
}

/// Returns up to `limit` entries of a list. `path` returns the path of the page with a cursor.
///
/// # Errors
/// If a page cannot be read, or there are too many.
pub(crate) fn entries(
    api: &Api,
    list: List,
    limit: usize,
    path: impl Fn(Option<&str>) -> String,
) -> Result<Vec<Value>> {
    let mut entries = Vec::new();
    if limit == 0 {
        return Ok(entries);
    }
    each_page(api, list.action, path, |page| {
        entries.extend(page[list.member].as_array().into_iter().flatten().cloned());
        entries.len() < limit
    })?;
    entries.truncate(limit);
    Ok(entries)
}

/// Passes each page of a list to `read`, until there are no more or it returns false. `path` returns the path of the
/// page with a cursor.
///
/// # Errors
/// If a page cannot be read, or there are too many.
pub(crate) fn each_page(
    api: &Api,
    action: &str,
    path: impl Fn(Option<&str>) -> String,
    mut read: impl FnMut(&Value) -> bool,
) -> Result<()> {
    follow(action, |cursor| {
        let page = api.get(&path(cursor), action)?;
        let goes_on = read(&page);
        Ok(page["nextCursor"].as_str().filter(|_| goes_on).map(str::to_owned))
    })
}

/// Reads the pages, each of which returns the cursor of the next one. A list that is cut must not look complete.
fn follow(action: &str, mut page: impl FnMut(Option<&str>) -> Result<Option<String>>) -> Result<()> {
    let mut cursor = None;
    for _ in 0..PAGES {
        cursor = page(cursor.as_deref())?;
        if cursor.is_none() {
            return Ok(());
        }
    }
    let advice = "narrow the list with options of the command, such as --limit or --created-after, or call the API";
    bail!("{action}: stopped after {PAGES} pages, and more follow: {advice}")
}

/// Returns a path of the API with those of the parameters that have a value.
pub(crate) fn query(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in parameters {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_with_too_many_pages_is_an_error() {
        let mut cursors = Vec::new();
        let three = follow("listing", |cursor| {
            cursors.push(cursor.map(str::to_owned));
            Ok((cursors.len() < 3).then(|| cursors.len().to_string()))
        });
        assert!(three.is_ok());
        assert_eq!(cursors, [None, Some("1".to_owned()), Some("2".to_owned())]);
        let error = follow("listing", |_| Ok(Some("again".to_owned()))).unwrap_err();
        assert!(error.to_string().starts_with("listing: stopped after 1000 pages"), "{error}");
    }

    #[test]
    fn parameters_with_a_value_are_the_query() {
        assert_eq!(query("/api/x", &[]), "/api/x");
        assert_eq!(query("/api/x", &[("reason", None)]), "/api/x");
        assert_eq!(query("/api/x", &[("reason", Some("a & b"))]), "/api/x?reason=a+%26+b");
        assert_eq!(query("/api/x", &[("a", Some("*")), ("b", None), ("c", Some("/="))]), "/api/x?a=*&c=%2F%3D");
    }
}
