//! Calls of the API that no other function makes: limits of tenants, and download URLs.

use longshore_domain::cost::{Month, MonthCost};
use longshore_domain::ports::{CallCount, DownloadUrls, PortResult, TenantCounts};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryFiles;

use super::{Stepwise, cloned, stepwise};
use crate::faults::{Fault, after, again, before};
use crate::unguarded::Unguarded;

impl<T: TenantCounts> TenantCounts for Stepwise<T> {
    stepwise! {
        async fn count_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<CallCount>;
        async fn active_jobs(&self, tenant: &TenantId) -> PortResult<u64>;
        async fn month_costs(&self, month: &Month, tenant: Option<&TenantId>) -> PortResult<Vec<MonthCost>>;
    }
}

/// Makes no call.
impl DownloadUrls for Stepwise<Unguarded<MemoryFiles>> {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        self.0.0.download_url(key, file_name, seconds).await
    }
}
