//! Costs: of a job, the estimate for a new one, and those of a month.

mod document;
pub(crate) mod examples;
pub(crate) mod month;

pub use document::{
    CostDocument, CostParts, CostPrices, EstimateDocument, MonthCostsDocument, TenantCostDocument, TypeCostDocument,
};
