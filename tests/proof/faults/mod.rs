//! Every fault of every call that the functions make, and functions, emulator and schedule that die.
//!
//! | module | what goes wrong |
//! | --- | --- |
//! | [`calls`] | a call is executed and its reply lost, throttled, failed, reset or late: [`operations`] by [`kinds`] |
//! | [`kills`] | processes of functions are killed at random |
//! | [`restart`] | the emulator is stopped and started in the middle of jobs |
//! | [`poison`] | a message that nobody can make sense of lies in every queue |
//! | [`schedule`] | messages are lost while the sweeper's schedule is stopped |
//!
//! Each works [`jobs`] over files of 2,000 rows, and compares what became of every row with what had to.

mod calls;
mod dead_letters;
mod jobs;
mod kills;
mod kinds;
mod operations;
mod poison;
mod restart;
mod schedule;
mod stacks;
