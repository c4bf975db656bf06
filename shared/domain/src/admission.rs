//! Admission of jobs by the depth of their queue: one tenant's backlog is no reason to refuse the others.

/// Active jobs with which a tenant is refused while a queue is deep.
pub const FEW_JOBS: u64 = 5;

/// Multiple of the limit at which every tenant is refused: more than one tenant's active jobs can fill.
const SHARED: u64 = 10;

/// Who is let in.
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
    /// By the chunks that wait in a queue, and the most that should.
    pub fn from_depth(chunks: u64, most: u64) -> Self {
        match chunks {
            _ if chunks <= most => Self::Open,
            _ if chunks <= most.saturating_mul(SHARED) => Self::FewJobs,
            _ => Self::Closed,
        }
    }

    /// Whether a tenant with so many active jobs is let in.
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
    fn a_deep_queue_refuses_those_who_fill_it_and_a_very_deep_one_everybody() {
        for (chunks, most, active, admitted) in [
            (100, 100, 50, true),
            (101, 100, 4, true),
            (101, 100, 5, false),
            (1_000, 100, 0, true),
            (1_001, 100, 0, false),
            (0, 0, 9, true),
            (1, 0, 0, false),
        ] {
            assert_eq!(Admission::from_depth(chunks, most).admits(active), admitted, "{chunks} {most} {active}");
        }
    }
}
