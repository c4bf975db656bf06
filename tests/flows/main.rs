//! The system as a whole: the real template and the real binaries on the emulator, used over HTTP as a browser does.
//!
//! All stories of a process share two stacks, each started when the first story asks for it: [`stack`] with a proxy that
//! makes faults, and [`impatient`], whose sweeper does not wait long. Both enforce IAM policies. Run them with
//! `cargo test -p longshore-tests --test flows -- --test-threads 8`: most of their time is waiting. A runner that gives
//! each test a process works too, and starts a stack for each.
//!
//! `LONGSHORE_ENDPOINT` deploys onto an emulator that runs already, and leaves out what needs one of its own.

mod at_least_once;
mod audits;
mod bad_files;
mod bad_input;
mod bad_rows;
mod by_the_sweeper;
mod cancels;
mod concurrency;
mod conventions;
mod corrections;
mod crashes;
mod dead_letters;
mod deletes;
mod fuzzed;
mod imports;
mod item_outcomes;
mod large_uploads;
mod least_privilege;
mod limits;
mod malformed;
mod other_job_types;
mod priorities;
mod read_back;
mod receipts;
mod retries;
mod secrets;
mod shared;
mod tenants;
