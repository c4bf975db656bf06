//! Groups of failures, added up over the pages of the API.

use std::collections::BTreeMap;

use anyhow::Result;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::filter::Filter;
use crate::api::Api;
use crate::output::documents::text;
use crate::output::pages::each_page;
use crate::output::table;

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
    /// Groups that pages of the API leave out. A group counts once for each page.
    pub(super) left_out: u64,
    /// Time at which the first page was read.
    pub(super) as_of: Option<String>,
}

impl Groups {
    /// Prints the groups as a table, and what they leave out.
    pub(super) fn print_table(&self) {
        if self.groups.is_empty() {
            println!("There are none.");
        } else {
            let heading = ["type", "code", "items", "jobs", "first seen", "last seen"];
            print!("{}", table::render(heading, self.groups.iter().map(row)));
            println!("\nRetry a group with `longshore operations retry --type TYPE --code CODE --reason TEXT`.");
        }
        self.omissions().iter().for_each(|sentence| println!("{sentence}"));
    }

    /// Returns the groups as JSON.
    pub(super) fn document(&self) -> Value {
        let group = |group: &Group| {
            json!({ "type": group.job_type, "code": group.code, "items": group.items, "jobs": group.jobs,
                "firstSeen": group.first_seen.map(Timestamp::to_rfc3339),
                "lastSeen": group.last_seen.map(Timestamp::to_rfc3339), "jobIds": group.job_ids })
        };
        let groups: Vec<_> = self.groups.iter().map(group).collect();
        json!({ "groups": groups, "groupsLeftOut": self.left_out, "uncounted": self.uncounted, "asOf": self.as_of })
    }

    /// Describes what the groups leave out.
    fn omissions(&self) -> Vec<String> {
        let items = format!("{} more items have failed whose code is not known.", self.uncounted);
        let groups = format!(
            "{} groups are left out, because a page of the API has up to 200: filter by --type or --code.",
            self.left_out
        );
        let all = [(self.uncounted, items), (self.left_out, groups)];
        all.into_iter().filter(|(number, _)| *number > 0).map(|(_, sentence)| sentence).collect()
    }
}

fn row(group: &Group) -> [String; 6] {
    let [items, jobs] = [group.items, group.jobs].map(|count| count.to_string());
    let [first, last] = [group.first_seen, group.last_seen].map(time);
    [group.job_type.clone(), group.code.clone(), items, jobs, first, last]
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
    left_out: u64,
    as_of: Option<String>,
}

impl Pages {
    fn add(&mut self, page: &Value) {
        self.uncounted += page["uncounted"].as_u64().unwrap_or_default();
        self.left_out += page["groupsLeftOut"].as_u64().unwrap_or_default();
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
        Groups { groups, uncounted: self.uncounted, left_out: self.left_out, as_of: self.as_of }
    }
}

/// Returns a time for a sentence or a table; a dash for none.
pub(super) fn time(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "-".to_owned(), Timestamp::to_rfc3339)
}

#[cfg(test)]
mod tests {
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
        let Groups { groups, uncounted, as_of, .. } = pages.groups();
        assert_eq!((uncounted, as_of.as_deref()), (3, Some("2026-03")));
        assert_eq!((groups[0].code.as_str(), groups[0].items, groups[0].jobs), ("a", 5, 2));
        assert_eq!([groups[0].first_seen, groups[0].last_seen].map(time), [january, february]);
        assert_eq!(groups[0].job_ids, ["j1", "j2"]);
    }

    #[test]
    fn groups_that_pages_leave_out_are_added_up_and_printed() {
        let mut pages = Pages::default();
        for left_out in [3, 4] {
            pages.add(&json!({ "groups": [group("a", 1, "2026-01-01T00:00:00Z", "j")], "groupsLeftOut": left_out }));
        }
        let groups = pages.groups();
        assert_eq!(groups.document()["groupsLeftOut"], 7);
        let printed = groups.omissions();
        assert!(printed.len() == 1 && printed[0].starts_with("7 groups are left out"), "{printed:?}");
        assert_eq!(Groups { uncounted: 2, ..groups }.omissions().len(), 2);
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
