//! Rate limit of a tenant's calls, per process: applied before anything is read, without a call of another service.
//!
//! Each process counts for itself, so a tenant has at most the rate times the number of processes that serve it. The
//! store also counts calls that create work, over all processes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::{Extension, Router};
use longshore_domain::ports::{CallCount, CallWindow, TenantCounts};
use longshore_domain::rate::Rate;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::Failure;
use crate::problem::{Kind, Problem};

/// Number of tenants that one process remembers: a few hundred bytes each.
const TENANTS: usize = 10_000;

/// The calls of each tenant in this process.
#[derive(Debug)]
pub struct CallLimit {
    rate: Rate,
    clock: fn() -> Timestamp,
    tenants: Mutex<HashMap<TenantId, Timestamp>>,
}

/// The cost of a route's call in tokens; one by default.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct CallCost(pub u32);

impl CallLimit {
    /// Creates a limit without any calls.
    pub fn new(rate: Rate, clock: fn() -> Timestamp) -> Self {
        Self { rate, clock, tenants: Mutex::default() }
    }

    /// Counts a call.
    ///
    /// # Errors
    /// 429 `rate-limited` if the tenant has called too often.
    pub(super) fn count(&self, tenant: &TenantId, cost: CallCost) -> Result<(), Problem> {
        let now = (self.clock)();
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let full_at = tenants.get(tenant).copied().unwrap_or(now);
        let new_full_at = self.rate.spend(full_at, cost.0, now).map_err(rate_limited)?;
        if tenants.len() >= TENANTS && !tenants.contains_key(tenant) {
            // A tenant that has not called for a while has a full bucket, as if it had never called.
            tenants.retain(|_, full_at| *full_at > now);
        }
        // Only the gateway counts tenants beyond the maximum.
        if tenants.len() < TENANTS || tenants.contains_key(tenant) {
            tenants.insert(tenant.clone(), new_full_at);
        }
        Ok(())
    }
}

/// Counts a call that creates work over all processes, before the work begins.
///
/// # Errors
/// 429 `rate-limited`, or the store fails.
pub async fn count_work_call(store: &impl TenantCounts, tenant: &TenantId, now: Timestamp) -> Result<(), Failure> {
    match store.count_call(tenant, now).await? {
        CallCount::Counted => Ok(()),
        CallCount::LimitReached => Err(rate_limited(CallWindow::at(now).end().millis_since(now)).into()),
    }
}

/// Counts each call of a tenant: [`Tenant`](super::Tenant) refuses calls above the rate.
pub fn with_call_limit<S: Clone + Send + Sync + 'static>(router: Router<S>, limit: CallLimit) -> Router<S> {
    router.layer(Extension(Arc::new(limit)))
}

/// Returns 429. The next call is allowed after this number of milliseconds.
pub fn rate_limited(wait_ms: i64) -> Problem {
    let seconds = u32::try_from(wait_ms.div_euclid(1_000) + 1).unwrap_or(u32::MAX);
    let detail = format!("your tenant has exceeded its rate limit; retry in {seconds} s");
    Problem::new(Kind::RateLimited, detail).retry_after(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(burst: u32) -> CallLimit {
        CallLimit::new(Rate { per_second: 1, burst }, || Timestamp(1_000))
    }

    #[test]
    fn only_the_tenant_that_calls_too_often_is_refused() {
        let limit = limit(3);
        let count = |tenant| {
            let counted = limit.count(&TenantId::from_static(tenant), CallCost(1));
            counted.map_err(|problem| problem.retry_after_s.unwrap().get())
        };
        assert_eq!(["a", "a", "a", "a", "b"].map(count), [Ok(()), Ok(()), Ok(()), Err(2), Ok(())]);
    }

    #[test]
    fn an_expensive_call_costs_more_tokens() {
        let (limit, a) = (limit(3), TenantId::from_static("a"));
        assert!(limit.count(&a, CallCost(2)).is_ok());
        assert!(limit.count(&a, CallCost(2)).is_err());
        assert!(limit.count(&a, CallCost(1)).is_ok());
    }

    #[test]
    fn a_process_remembers_a_bounded_number_of_tenants() {
        let limit = limit(1);
        for n in 0..TENANTS + 10 {
            assert!(limit.count(&TenantId::parse(&n.to_string()).unwrap(), CallCost(1)).is_ok());
        }
        assert_eq!(limit.tenants.lock().unwrap().len(), TENANTS);
    }
}
