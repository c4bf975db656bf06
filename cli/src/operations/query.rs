//! The filter of jobs and failures as a query string, and lists page by page.

use anyhow::{Result, bail};
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::api::Api;

/// Maximum number of pages of one list: a page can be empty although more follow.
const PAGES: usize = 1_000;

/// The jobs of a list.
#[derive(clap::Args, Clone, Default)]
pub(super) struct Filter {
    /// Only jobs of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) job_type: Option<String>,
    /// Only jobs of this tenant
    #[arg(long, value_name = "TENANT")]
    pub(super) tenant: Option<String>,
    /// Only jobs that were accepted at this time or later, such as 2026-07-01T09:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(super) created_after: Option<String>,
    /// Only jobs that were accepted before this time
    #[arg(long, value_name = "TIME")]
    pub(super) created_before: Option<String>,
}

impl Filter {
    /// Returns the path of a list with this filter, these parameters and this cursor.
    pub(super) fn path(&self, list: &str, others: &[(&str, Option<&str>)], cursor: Option<&str>) -> String {
        let own = [
            ("type", self.job_type.as_deref()),
            ("tenant", self.tenant.as_deref()),
            ("createdAfter", self.created_after.as_deref()),
            ("createdBefore", self.created_before.as_deref()),
        ];
        let last = [("cursor", cursor)];
        let all = own.iter().chain(others).chain(&last).copied();
        let mut query = Serializer::new(String::new());
        for (name, value) in all.filter_map(|(name, value)| Some((name, value?))) {
            query.append_pair(name, value);
        }
        format!("/api/operations/{list}?{}", query.finish())
    }
}

/// Passes each page of a list to `read`, until there are no more or it returns false. `path` returns the path of the
/// page with a cursor.
///
/// # Errors
/// If a page cannot be read, or there are too many.
pub(super) fn each_page(
    api: &Api,
    action: &str,
    path: impl Fn(Option<&str>) -> String,
    mut read: impl FnMut(&Value) -> bool,
) -> Result<()> {
    follow(|cursor| {
        let page = api.get(&path(cursor), action)?;
        let goes_on = read(&page);
        Ok(page["nextCursor"].as_str().filter(|_| goes_on).map(str::to_owned))
    })
}

/// Reads the pages, each of which returns the cursor of the next one. A list that is cut must not look complete.
fn follow(mut page: impl FnMut(Option<&str>) -> Result<Option<String>>) -> Result<()> {
    let mut cursor = None;
    for _ in 0..PAGES {
        cursor = page(cursor.as_deref())?;
        if cursor.is_none() {
            return Ok(());
        }
    }
    bail!("stopped after {PAGES} pages, and more follow: narrow the list, for example with --created-after")
}

/// Returns up to `limit` entries of a list.
pub(super) fn entries(
    api: &Api,
    (action, member): (&str, &str),
    limit: usize,
    path: impl Fn(Option<&str>) -> String,
) -> Result<Vec<Value>> {
    let mut entries = Vec::new();
    each_page(api, action, path, |page| {
        entries.extend(page[member].as_array().into_iter().flatten().cloned());
        entries.len() < limit
    })?;
    entries.truncate(limit);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_with_too_many_pages_is_an_error() {
        let mut cursors = Vec::new();
        let three = follow(|cursor| {
            cursors.push(cursor.map(str::to_owned));
            Ok((cursors.len() < 3).then(|| cursors.len().to_string()))
        });
        assert!(three.is_ok());
        assert_eq!(cursors, [None, Some("1".to_owned()), Some("2".to_owned())]);
        let error = follow(|_| Ok(Some("again".to_owned()))).unwrap_err();
        assert!(error.to_string().starts_with("stopped after 1000 pages"), "{error}");
    }

    #[test]
    fn a_filter_is_a_query() {
        let filter = Filter {
            job_type: Some("a&b".to_owned()),
            created_after: Some("2026-07-01T09:00:00Z".to_owned()),
            ..Filter::default()
        };
        let path = filter.path("jobs", &[("order", Some("oldest")), ("status", None)], Some("c"));
        assert_eq!(path, "/api/operations/jobs?type=a%26b&createdAfter=2026-07-01T09%3A00%3A00Z&order=oldest&cursor=c");
    }
}
