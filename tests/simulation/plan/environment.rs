//! The environment of a run: timeouts, order of messages, clocks, and rates of faults.

use super::JobPlan;
use crate::faults::Rates;
use crate::kinds::Kind;
use crate::rng::Rng;

/// Seconds without progress that count as healthy, unless a story has its own value.
pub(crate) const STALL_S: i64 = 60;

/// Behavior of a run's environment.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// Functions are killed at their timeout. Otherwise they can be slow indefinitely, which only affects an exact
    /// concurrency limit and a removal.
    pub(crate) has_timeouts: bool,
    /// Messages of a FIFO queue's group are delivered in order, one at a time.
    pub(crate) fifo: bool,
    /// Seconds until a delivered message is redelivered.
    pub(crate) visibility_s: i64,
    /// Base of the delays after failed deliveries, in seconds. A message then has ten deliveries, as in the template.
    /// If `None`, such a message stays hidden until its visibility timeout, and has five deliveries.
    pub(crate) redelivery_base_s: Option<i64>,
    /// Base of the retry schedule, in seconds.
    pub(crate) retry_base_s: i64,
    /// Seconds without progress that count as healthy.
    pub(crate) stall_s: i64,
    /// Maximum error of a function's clock, in milliseconds.
    pub(crate) skew_ms: i64,
    /// Maximum number of lost messages, fewer than the sweeper's pushes.
    pub(crate) losses: u32,
    /// Maximum number of steps that a function takes before another one runs.
    pub(crate) stride: usize,
    /// Some functions are slow.
    pub(crate) has_slow_functions: bool,
    /// A sweep runs without interruptions and faults.
    pub(crate) sweeps_at_once: bool,
    /// No function is killed.
    pub(crate) no_kills: bool,
    /// Rates of random faults.
    pub(crate) rates: Rates,
}

impl Environment {
    /// Functions are killed, and messages are delivered twice, late, in any order or not at all. Calls of services have
    /// no faults.
    pub(crate) const PLAIN: Self = Self {
        has_timeouts: false,
        fifo: false,
        visibility_s: 45,
        redelivery_base_s: None,
        retry_base_s: 0,
        stall_s: STALL_S,
        skew_ms: 0,
        losses: 2,
        stride: 30,
        has_slow_functions: false,
        sweeps_at_once: true,
        no_kills: false,
        rates: Rates { throttled: 0, reply_dropped: 0, sent_twice: 0, stale: 0 },
    };

    /// Decides the environment of these jobs.
    pub(super) fn random(rng: &mut Rng, jobs: &[JobPlan]) -> Self {
        let rate = |rng: &mut Rng, limit: usize| if rng.often(600) { rng.below(limit) as u32 } else { 0 };
        let needs_timeouts = |job: &JobPlan| {
            matches!(job.kind, Kind::Limited | Kind::Lying)
                || job.action_rates.deletes > 0
                || job.action_rates.undos > 0
        };
        let has_timeouts = jobs.iter().any(needs_timeouts) || rng.often(500);
        Self {
            has_timeouts,
            fifo: rng.often(300),
            // If functions outlive the visibility timeout, two of them process one message.
            visibility_s: if has_timeouts { 45 } else { rng.pick(&[5, 15, 45]) },
            redelivery_base_s: None,
            retry_base_s: rng.pick(&[0, 0, 10, 600]),
            stall_s: STALL_S,
            skew_ms: rng.pick(&[0, 500, 3_000]),
            losses: rng.pick(&[0, 2, 2]),
            stride: rng.pick(&[4, 10, 30]),
            has_slow_functions: rng.often(300),
            sweeps_at_once: rng.often(300),
            no_kills: false,
            rates: Rates {
                throttled: rate(rng, 60),
                reply_dropped: rate(rng, 60),
                sent_twice: rate(rng, 80),
                stale: rate(rng, 200),
            },
        }
    }
}
