//! Every kind of fault in every call that the functions make, and the loss of functions, emulator and schedule.
//!
//! | module | fault |
//! | --- | --- |
//! | [`calls`] | a call is executed and its reply lost, throttled, failed, reset or late: [`operations`] by [`kinds`] |
//! | [`kills`] | processes of functions are killed at random; the emulator is restarted while jobs run |
//! | [`poison`] | every queue contains an unreadable message |
//! | [`schedule`] | messages are lost while the sweeper's schedule is stopped |
//!
//! Each runs [`jobs`] over files of 2,000 rows, and compares the outcome of every row with the expected one.

mod calls;
mod dead_letters;
mod jobs;
mod kills;
mod kinds;
mod operations;
mod poison;
mod schedule;
mod stacks;
