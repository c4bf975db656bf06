//! `cargo xtask bench`: measures speed, price, memory, cold starts and package sizes of release builds on a separate
//! stack, and compares them with the goals.
//!
//! The method is described in `bench/README.md`; `results.md` beside it has the latest results.
//!
//! | module | contents |
//! | --- | --- |
//! | [`command`] | options of the command, and the order of the measurements |
//! | [`cases`], [`rows`] | jobs to measure, and their input files |
//! | [`run`], [`usage`], [`price`] | one job: its time, its calls, and their cost |
//! | [`environment`] | the stack that the jobs run on |
//! | [`beside`], [`reads`] | a small job beside a large one, and the cost of reads |
//! | [`cold_start`], [`runtime_api`], [`sizes`] | new processes, and packages |
//! | [`results`], [`statistics`], [`goals`], [`report`] | all measurements, and their judgement |
//! | [`machine`], [`markdown`] | the machine, and tables, also for other records |

mod beside;
mod cases;
mod cold_start;
mod command;
mod environment;
mod goals;
pub mod machine;
pub mod markdown;
mod price;
mod reads;
mod report;
mod results;
mod rows;
mod run;
mod runtime_api;
mod sizes;
mod statistics;
mod usage;

pub use command::{Options, run};
