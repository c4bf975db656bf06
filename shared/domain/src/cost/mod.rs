//! The cost of a job at list prices.
//!
//! The cost is a pure function of what the ledger records. It has the functions that split a job, work its chunks and
//! end it, with their calls and their messages. `docs/design/cost.md` lists the calls of each step, and what is not
//! included.
//!
//! | module | content |
//! | --- | --- |
//! | `architecture` | the architecture of the functions |
//! | `money` | amounts, and the parts of a cost |
//! | `prices` | list prices, from `prices.json` |
//! | `stored` | the stored forms of costs |
//! | `units` | billed units |
//! | `steps` | the units of each step of a job |
//! | `of_job` | the cost of a job, while it runs and at its end |
//! | `limit` | the stop of a job before a maximum is exceeded |
//! | `estimate` | the estimate for a new job, and the smallest maximum that it can keep |
//! | `month` | the costs of a tenant's jobs in a month |

mod architecture;
mod estimate;
mod limit;
mod money;
mod month;
mod of_job;
mod prices;
mod steps;
mod stored;
mod units;

pub use architecture::Architecture;
pub use estimate::{CostEstimate, PlannedRun, SourceEstimate, min_max_cost};
pub use limit::{SpendingLimit, is_check_due};
pub use money::{Cost, NanoDollars};
pub use month::{Charge, Month, MonthCost};
pub use of_job::{cost_so_far, generation_cost};
pub use prices::{GbSecondPrices, Prices, UnitPrices};
pub use stored::InvalidCost;
pub use units::{ChunkUsage, Units};
