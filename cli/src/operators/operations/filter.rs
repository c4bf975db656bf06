//! The filter of jobs and failures as a query string.

use crate::output::pages::query;

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
        query(&format!("/api/operations/{list}"), &[&own[..], others, &[("cursor", cursor)]].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
