//! The rules of Longshore, without any I/O.
//!
//! Splitting, the ledger's decisions, the job's state machine, retries and progress are pure functions over plain
//! values: time and ids are arguments, and nothing here depends on AWS. The same functions run in production, in the
//! in-memory store, and in the protocol model that checks them exhaustively.
//!
//! | module | contents |
//! | --- | --- |
//! | [`ids`], [`tenant`] | ids of jobs, chunks and uploads; names of tenants |
//! | [`random`], [`timestamp`] | random names and fractions; milliseconds since the epoch |
//! | [`job`] | a job's state and all its transitions |
//! | [`group`], [`cursor`] | the ledger: groups, chunk cursors, the one conditional commit |
//! | [`concurrency`] | concurrency limits of job types: permits and parked chunks |
//! | [`admission`], [`rate`] | admission control by queue depth; rate limits |
//! | [`cost`] | the cost of a job at list prices, its estimate and its limit |
//! | [`deliveries`] | the age of the messages that workers receive |
//! | [`dead_letter`] | dead letters, and the effect of a replay |
//! | [`event`] | events of jobs: what a tenant is told |
//! | [`sheet_rows`] | the numbers of the rows of a sheet of a workbook |
//! | [`split`], [`records`] | cutting a stream into records, records into chunks, chunks into groups |
//! | [`parts`] | cutting a large file into the parts of its upload |
//! | [`pause`] | pauses of job types and tenants |
//! | [`dataset`], [`writer`] | datasets of records; which writer of a record wins |
//! | [`history`], [`undo`] | earlier versions of records; the undo of an import |
//! | [`outcome`], [`work_file`] | outcomes of items, and the files that hold them |
//! | [`remote`] | the contract with handlers in any language: requests, answers, faults, bisection |
//! | [`registration`] | registrations of job types with a handler in any language |
//! | [`results`] | the form of the results of items that have outputs |
//! | [`retry`], [`next_tries`] | back-off of transient items and redeliveries; times of the items of a round |
//! | [`schedule`] | schedules: jobs that are created at times of a plan, and their occurrences |
//! | [`progress`] | percent, rate and ETA |
//! | [`text`] | names and texts of clients, shortened for messages |
//! | [`trace`] | the trace of a job |
//! | [`webhook`] | endpoints that are called with events; deliveries and their attempts |
//! | [`message`], [`ports`] | queue messages; the traits that the adapters implement |

pub mod admission;
pub mod concurrency;
pub mod cost;
pub mod cursor;
pub mod dataset;
pub mod dead_letter;
pub mod deliveries;
pub mod event;
pub mod group;
pub mod history;
pub mod ids;
pub mod job;
mod manifest;
pub mod message;
pub mod next_tries;
pub mod operator_log;
pub mod outcome;
pub mod parts;
pub mod pause;
pub mod ports;
pub mod preset;
pub mod progress;
pub mod random;
pub mod rate;
pub mod records;
pub mod registration;
pub mod remote;
pub mod results;
pub mod retry;
pub mod schedule;
pub mod sheet_rows;
pub mod split;
pub mod tenant;
pub mod text;
pub mod timestamp;
pub mod trace;
pub mod turns;
pub mod undo;
pub mod webhook;
pub mod work_file;
pub mod writer;
