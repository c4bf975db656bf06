//! The real splitter, worker, completion and sweeper over in-memory services, in random order.
//!
//! One seed is one run: a file, a job, its client's actions, and every fault. Each call of a service has two points at
//! which a function can be interrupted or die: before the call and after it. Calls are refused, made twice, or succeed
//! and are reported as failed. Messages are delivered twice, late, in any order, or not at all; clocks are off; lagging
//! reads lag. In every run every answer adds up, progress never falls, the job ends, and succeeded rows and the rows of
//! the report's files are the rows of the input. The model in the domain checks the protocol; this simulation checks
//! the code.
//!
//! | file | holds |
//! | --- | --- |
//! | `seeds`, `soak` | the tests over thousands of seeds, and over millions |
//! | `run`, `plan`, `dice` | one seed: what it says, and what becomes of it |
//! | `world` | functions, messages, a clock, a client, and what must hold |
//! | `stepwise`, `weather`, `tokens` | services that can be left at every call, and what goes wrong with them |
//! | `unguarded` | services without one of their conditions |
//! | `kinds`, `handler` | the job types, including the import, and how to add another one |
//! | `fairness` | many tenants, of which one abuses the deployment: how long the others wait |
//! | `fair_ends` | many tenants, one of which cancels large jobs: how long the others wait for their end |
//! | `poison` | a job whose split always fails, and its tenant's other jobs behind it |
//! | `starved` | a queue that is never empty: waiting messages are left alone, lost ones are detected |
//! | `throughput` | services that take fewer calls a second than the functions make |
//! | `stories`, `ending`, `gate`, `corrections`, `recursion` | moments that chance seldom comes to |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "what tests call stops a test as tests do")]

mod concurrency;
mod corrections;
mod ending;
mod fair_ends;
mod fairness;
mod faults;
mod handler;
mod kinds;
mod plan;
mod poison;
mod recursion;
mod report;
mod rng;
mod run;
mod seeds;
mod soak;
mod starved;
mod stepwise;
mod stories;
mod throughput;
mod tokens;
mod trace;
mod unguarded;
mod world;
