//! The real splitter, worker, completion and sweeper over in-memory services, in random order.
//!
//! A seed determines a run: a file, a job, its client's requests, and every fault. Each call of a service has two
//! points at which a function can be interrupted or killed: before the call and after it. Calls are refused, executed
//! twice, or succeed and are reported as failed. Messages are delivered twice, late, in any order, or not at all.
//! Clocks are wrong. Eventually consistent reads return old data.
//!
//! In every run, every response adds up, progress never decreases, the job ends, and the succeeded rows and the rows of
//! the report's files are the rows of the input. The model in the domain checks the protocol; this simulation checks
//! the code.
//!
//! | file | contents |
//! | --- | --- |
//! | `seeds`, `soak` | the tests over thousands of seeds, and over millions |
//! | `expected_faults` | faults and traits that must occur in thousands of seeds |
//! | `run`, `plan`, `rng` | one seed: the random generator, the plan that it decides, and the result of the run |
//! | `clock`, `world` | a clock, functions, messages, a client, and the invariants |
//! | `report`, `trace` | the report as a client reads it; the trace of a run, hashed or printed |
//! | `stepwise`, `faults`, `tokens` | services that can be interrupted at every call, and their faults |
//! | `unguarded` | services without one of their conditions |
//! | `kinds`, `handler`, `rows` | the job types, how to add another one, and their files |
//! | `imports`, `import_effects` | the import, its records, and the checks of its effects |
//! | `versions`, `lineage` | versions of records, compared with those that a plain program keeps |
//! | `undos` | imports and their undos without the other functions, compared with a plain program |
//! | `undo_races` | an undo or a preview that another request interrupts |
//! | `api` | calls of the real API |
//! | `lying`, `answers` | a remote handler that lies; its answers, and the checks of what follows |
//! | `exports` | the export, and the other program that writes to its dataset |
//! | `fairness` | many tenants, one of which abuses the deployment: waiting times of the others |
//! | `fair_ends` | many tenants, one of which cancels large jobs: waiting times of the others for their end |
//! | `pauses` | pauses of operators, and the checks of what functions do during one |
//! | `poison` | a job whose split always fails, and other jobs of its tenant |
//! | `throughput` | services that accept fewer calls per second than the functions make |
//! | `schedules` | sweepers that fire schedules: one job or one reason for each occurrence |
//! | `webhooks` | deliveries of events to endpoints that fail, and to one whose URL changes (`webhooks/checks.rs`) |
//! | `tasks` | functions of a small simulation, step by step |
//! | `limits` | workers of registered types on a clock: rate limit, concurrency limit, and the share of one type |
//! | `stories` | situations that random runs seldom reach, and a queue that is never empty |
//! | `paused_jobs` | jobs that complete during a pause, or continue after it |
//! | `concurrency`, `corrections`, `recursion` | further situations that random runs seldom reach |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed step in a helper fails the test")]

mod answers;
mod api;
mod clock;
mod concurrency;
mod corrections;
mod expected_faults;
mod exports;
mod fair_ends;
mod fairness;
mod faults;
mod handler;
mod import_effects;
mod imports;
mod kinds;
mod limits;
mod lineage;
mod lying;
mod paused_jobs;
mod pauses;
mod plan;
mod poison;
mod recursion;
mod report;
mod rng;
mod rows;
mod run;
mod schedules;
mod seeds;
mod small_undo;
mod soak;
mod stepwise;
mod stories;
mod tasks;
mod throughput;
mod tokens;
mod trace;
mod undo_races;
mod undos;
mod unguarded;
mod versions;
mod webhooks;
mod world;
