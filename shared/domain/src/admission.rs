//! Admission control: accepts or refuses new jobs by the depth of their queue (backpressure).
//!
//! A deep queue closes admission first for tenants with many active jobs, so that one tenant's queue depth does not
//! shut out the others.

/// Number of active jobs from which a tenant is refused while a queue is deep.
pub const FEW_JOBS: u64 = 5;

/// Multiple of the depth limit above which every tenant is refused: more than one tenant's active jobs can fill.
const CLOSED_MULTIPLE: u64 = 10;

/// The tenants that are admitted at the current queue depth.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Admission {
    /// Every tenant.
    Open,
    /// Tenants with fewer than [`FEW_JOBS`] active jobs.
    FewJobs,
    /// No tenant.
    Closed,
}

impl Admission {
    /// Decides by the number of chunks that wait in a queue and the depth limit.
    pub fn from_depth(chunks: u64, depth_limit: u64) -> Self {
        match chunks {
            _ if chunks <= depth_limit => Self::Open,
            _ if chunks <= depth_limit.saturating_mul(CLOSED_MULTIPLE) => Self::FewJobs,
            _ => Self::Closed,
        }
    }

    /// Returns true if a tenant with this number of active jobs is admitted.
    pub fn admits(self, active: u64) -> bool {
        match self {
            Self::Open => true,
            Self::FewJobs => active < FEW_JOBS,
            Self::Closed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_queue_refuses_tenants_with_many_jobs_and_a_very_deep_one_refuses_all() {
        for (chunks, depth_limit, active, admitted) in [
            (100, 100, 50, true),
            (101, 100, 4, true),
            (101, 100, 5, false),
            (1_000, 100, 0, true),
            (1_001, 100, 0, false),
            (0, 0, 9, true),
            (1, 0, 0, false),
        ] {
            assert_eq!(
                Admission::from_depth(chunks, depth_limit).admits(active),
                admitted,
                "{chunks} {depth_limit} {active}"
            );
        }
    }
}
