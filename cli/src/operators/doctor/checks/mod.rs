//! The checks: pure functions from the facts to what is wrong.
//!
//! | file | content |
//! | --- | --- |
//! | `diagnosis` | all checks, in the order of the report |
//! | `stack` | the stack's status, the API, versions |
//! | `alarms` | alarms, their logs, receivers and links; those that are missing or muted |
//! | `queues` | dead letters, old messages, full queues, mappings, other readers |
//! | `preparations` | files that wait for their preparation |
//! | `functions` | states, reserved concurrency, changes beside a deployment, the account's quota |
//! | `storage` | tables, and the bucket's rules for pages |
//! | `jobs` | the sweeper's schedule, open circuit breakers, jobs that do not start or end |
//! | `webhooks` | webhooks that accept no events |
//! | `code` | the codes of what only `doctor` finds |
//! | `consumers` | queues and their functions |

mod alarms;
mod code;
mod consumers;
mod diagnosis;
mod functions;
mod jobs;
mod preparations;
mod queues;
mod stack;
mod storage;
#[cfg(test)]
pub(super) mod tests;
mod webhooks;

pub(super) use diagnosis::diagnose;
