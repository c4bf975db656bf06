//! Groups of failures, added up over the pages of the API.

use std::collections::BTreeMap;

use anyhow::Result;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use super::filter::Filter;
use crate::api::Api;
use crate::output::documents::text;
use crate::output::pages::each_page;

/// Failed items of ended jobs with the same job type and code.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Group {
    pub(super) job_type: String,
    pub(super) code: String,
    pub(super) items: u64,
    pub(super) jobs: u64,
    /// End of the first of the jobs; `None` if it is unknown.
    pub(super) first_seen: Option<Timestamp>,
    /// End of the last of the jobs.
    pub(super) last_seen: Option<Timestamp>,
    /// Ids of the jobs. The API names up to 100 of each page.
    pub(super) job_ids: Vec<String>,
}

/// All groups of a filter.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Groups {
    /// The largest first.
    pub(super) groups: Vec<Group>,
    /// Failed items that no group counts.
    pub(super) uncounted: u64,
    /// Time at which the first page was read.
    pub(super) as_of: Option<String>,
}

/// Reads the groups of all jobs of a filter, or only those with this code.
pub(super) fn read(api: &Api, filter: &Filter, code: Option<&str>) -> Result<Groups> {
    let mut pages = Pages::default();
    let path = |cursor: Option<&str>| filter.path("failures", &[("limit", Some("100")), ("code", code)], cursor);
    each_page(api, "listing the failures", path, |page| {
        pages.add(page);
        true
    })?;
    Ok(pages.groups())
}

/// Groups while pages are added.
#[derive(Default)]
struct Pages {
    groups: BTreeMap<(String, String), Group>,
    uncounted: u64,
    as_of: Option<String>,
}

impl Pages {
    fn add(&mut self, page: &Value) {
        self.uncounted += page["uncounted"].as_u64().unwrap_or_default();
        if self.as_of.is_none() {
            self.as_of = page["asOf"].as_str().map(str::to_owned);
        }
        for found in page["groups"].as_array().into_iter().flatten() {
            self.add_group(found);
        }
    }

    fn add_group(&mut self, found: &Value) {
        let (job_type, code) = (text(&found["type"]), text(&found["code"]));
        let [first, last] =
            ["firstSeen", "lastSeen"].map(|name| found[name].as_str().and_then(Timestamp::parse_rfc3339));
        let group = self.groups.entry((job_type.clone(), code.clone())).or_insert_with(|| Group {
            job_type,
            code,
            items: 0,
            jobs: 0,
            first_seen: first,
            last_seen: last,
            job_ids: Vec::new(),
        });
        group.items += found["items"].as_u64().unwrap_or_default();
        group.jobs += found["jobs"].as_u64().unwrap_or_default();
        // `None` is before every time.
        group.first_seen = [group.first_seen, first].into_iter().flatten().min();
        group.last_seen = group.last_seen.max(last);
        group.job_ids.extend(found["jobIds"].as_array().into_iter().flatten().map(text));
    }

    fn groups(self) -> Groups {
        let mut groups: Vec<_> = self.groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.items));
        Groups { groups, uncounted: self.uncounted, as_of: self.as_of }
    }
}

/// Returns a time for a sentence or a table; a dash for none.
pub(super) fn time(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "-".to_owned(), Timestamp::to_rfc3339)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn group(code: &str, items: u64, at: &str, job: &str) -> Value {
        json!({ "type": "t", "code": code, "items": items, "jobs": 1, "firstSeen": at, "lastSeen": at,
            "jobIds": [job] })
    }

    #[test]
    fn groups_of_several_pages_are_added_up() {
        let (january, february) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
        let mut pages = Pages::default();
        pages.add(&json!({ "groups": [group("a", 3, february, "j1"), group("b", 4, february, "j1")], "uncounted": 1,
            "asOf": "2026-03" }));
        pages.add(&json!({ "groups": [group("a", 2, january, "j2")], "uncounted": 2, "asOf": "2026-04" }));
        let Groups { groups, uncounted, as_of } = pages.groups();
        assert_eq!((uncounted, as_of.as_deref()), (3, Some("2026-03")));
        assert_eq!((groups[0].code.as_str(), groups[0].items, groups[0].jobs), ("a", 5, 2));
        assert_eq!([groups[0].first_seen, groups[0].last_seen].map(time), [january, february]);
        assert_eq!(groups[0].job_ids, ["j1", "j2"]);
    }

    #[test]
    fn times_with_and_without_a_fraction_of_a_second_are_compared_as_times() {
        let (whole, half) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z");
        for [first, second] in [[whole, half], [half, whole]] {
            let mut pages = Pages::default();
            for at in [first, second, "unknown"] {
                pages.add(&json!({ "groups": [group("a", 1, at, "j")] }));
            }
            let Groups { groups, .. } = pages.groups();
            assert_eq!([groups[0].first_seen, groups[0].last_seen].map(time), [whole, half]);
        }
        assert_eq!(time(None), "-");
    }
}
