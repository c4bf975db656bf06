//! Examples of costs.

use longshore_domain::cost::{Cost, CostEstimate, Month, MonthCost, NanoDollars};
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

/// The estimate for an import of 5 MiB on arm64. Its amounts are literals, because the API document must not depend on
/// the architecture of the machine that writes it.
const ESTIMATE: CostEstimate = CostEstimate {
    cost: Cost {
        compute: NanoDollars(178_574),
        requests: NanoDollars(7_000),
        database: NanoDollars(16_467_375),
        storage: NanoDollars(24_400),
        queue: NanoDollars(40_000),
    },
    items: 26_215,
    assumed_item_bytes: Some(200),
    assumed_write_micros: Some(1_000),
};

/// Example: the cost of an import.
pub(crate) fn job() -> CostDocument {
    CostDocument::new(COST)
}

/// Example: the estimate for an import of 5 MiB.
pub(crate) fn estimate() -> EstimateDocument {
    EstimateDocument::new(&ESTIMATE)
}

/// Example: the costs of a tenant's month.
pub(crate) fn month() -> MonthCostsDocument {
    let tenant = TenantId::from_static("acme");
    let of =
        |job_type: &str, runs| MonthCost { tenant: tenant.clone(), job_type: job_type.to_owned(), runs, cost: COST };
    MonthCostsDocument::new(&Month::from_time(AT), Some(&tenant), &[of("export", 4), of("import", 31)])
}
