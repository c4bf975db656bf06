//! `cargo xtask bench`: measures speed, price, memory, cold starts and package sizes of release builds on a separate
//! stack, and compares them with the goals.
//!
//! `bench/README.md` describes the method; `bench/results.md` has the latest results.
//!
//! | module | contents |
//! | --- | --- |
//! | `command` | options and steps of the command |
//! | `cases`, `rows` | jobs to measure, and their input files; the files also for `bench/memory` |
//! | `run`, `usage`, `price` | a job: its time, its calls, and their cost |
//! | `environment` | the stack of the jobs |
//! | `beside` | a small job beside a large one, and the cost of reads |
//! | `export`, `export_report`, `records` | an export beside a script, and its records |
//! | [`handler_price`] | the price of a million items of a Lambda handler; used by `bench/memory` |
//! | `item_size` | the size of an item in a table |
//! | `cold_start`, `runtime_api` | cold starts, and package sizes |
//! | `results`, `statistics`, `report` | all measurements, and their evaluation |
//! | `machine`, `markdown` | the machine, and Markdown tables; also used by xtask |

mod beside;
mod cases;
mod cold_start;
mod command;
mod environment;
mod export;
mod export_report;
pub mod handler_price;
mod item_size;
pub mod machine;
pub mod markdown;
mod price;
mod records;
mod report;
mod results;
pub mod rows;
mod run;
mod runtime_api;
mod statistics;
mod usage;

pub use command::{Options, run};
