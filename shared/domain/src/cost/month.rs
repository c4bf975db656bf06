//! The costs of a tenant's jobs in a month. A run of a job counts in the month in which it ends.

use std::fmt;

use super::{Cost, generation_cost};
use crate::group::Group;
use crate::job::Job;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Length of a month's name: `2026-11`.
const LENGTH: usize = 7;

/// A month in UTC, such as `2026-11`.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct Month(String);

impl Month {
    /// Returns the month of a time.
    pub fn from_time(at: Timestamp) -> Self {
        Self(at.to_rfc3339().chars().take(LENGTH).collect())
    }

    /// Parses a month; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let first = Timestamp::parse_rfc3339(&format!("{text}-01T00:00:00Z"))?;
        Some(Self::from_time(first)).filter(|month| month.0 == text)
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The cost of a run, which its end adds to the month's costs of a tenant.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Charge {
    /// The tenant.
    pub tenant: TenantId,
    /// Name of the job type.
    pub job_type: String,
    /// The cost of the generation that ends.
    pub cost: Cost,
}

impl Charge {
    /// Returns the charge of a generation that ends, from its groups.
    pub fn new(job: &Job, groups: &[Group]) -> Self {
        Self { tenant: job.tenant.clone(), job_type: job.job_type.clone(), cost: generation_cost(job, groups) }
    }
}

/// The costs of one job type of a tenant in a month.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct MonthCost {
    /// The tenant.
    pub tenant: TenantId,
    /// Name of the job type.
    pub job_type: String,
    /// Number of runs that ended: a job, and each retry of it.
    pub runs: u64,
    /// Their cost.
    pub cost: Cost,
}

impl MonthCost {
    /// Maximum number of job types of one tenant in a month that are read.
    pub const MAX_OF_TENANT: usize = 10_000;
    /// Maximum number of job types of all tenants in a month that are read, each type once for each tenant.
    pub const MAX_OF_ALL: usize = 100_000;
    /// Days for which a month's costs are kept after the last job that ended in it.
    pub const RETENTION_DAYS: i64 = 400;

    /// Returns the maximum number that is read of this tenant, or of all. A store returns one more if there are more.
    pub fn max(tenant: Option<&TenantId>) -> usize {
        if tenant.is_some() { Self::MAX_OF_TENANT } else { Self::MAX_OF_ALL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_parsed_from_its_name_only() {
        assert_eq!(Month::from_time(Timestamp(1_700_000_000_123)).as_str(), "2023-11");
        assert_eq!(Month::parse("2026-11").map(|month| month.to_string()), Some("2026-11".into()));
        for text in ["2026-13", "2026-1", "2026-11-01", "november", "", "2026-11 "] {
            assert_eq!(Month::parse(text), None, "{text:?}");
        }
    }
}
