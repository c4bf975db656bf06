//! Examples of costs.

use longshore_domain::cost::{Cost, Month, MonthCost, NanoDollars, PlannedRun, SourceEstimate};
use longshore_domain::split::ChunkLimits;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::{CostDocument, EstimateDocument, MonthCostsDocument};

/// 2026-07-01T09:00:05Z.
const AT: Timestamp = Timestamp(1_782_896_405_000);

const COST: Cost = Cost {
    compute: NanoDollars(631_000),
    requests: NanoDollars(7_600),
    database: NanoDollars(62_621_000),
    storage: NanoDollars(31_000),
    queue: NanoDollars(38_000),
};

/// Example: the cost of an import.
pub(crate) fn job() -> CostDocument {
    CostDocument::new(COST)
}

/// Example: the estimate for an import of 5 MiB.
pub(crate) fn estimate() -> EstimateDocument {
    let source = SourceEstimate::File { bytes: 5 << 20, items: None };
    let limits = ChunkLimits { items: 25_000, bytes: 4 << 20, item_bytes: 16 << 20 };
    EstimateDocument::new(&PlannedRun { source, limits, writes_records: true }.estimate())
}

/// Example: the costs of a tenant's month.
pub(crate) fn month() -> MonthCostsDocument {
    let tenant = TenantId::from_static("acme");
    let of =
        |job_type: &str, runs| MonthCost { tenant: tenant.clone(), job_type: job_type.to_owned(), runs, cost: COST };
    MonthCostsDocument::new(&Month::from_time(AT), Some(&tenant), &[of("export", 4), of("import", 31)])
}
