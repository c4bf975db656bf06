//! Verification on the emulator: the real template and the real binaries under faults, with malformed files, and under load.
//!
//! Afterwards counts, report and records are compared with the input, row by row. A plain test run uses reduced sets.
//! `cargo xtask prove` runs the complete sets, and writes a table of the measurements.

mod corpus;
mod faults {
    //! Every kind of fault in every call that the functions make, and the loss of functions, emulator and schedule.
    //!
    //! | module | fault |
    //! | --- | --- |
    //! | [`calls`] | a call is executed and its reply lost, throttled, failed, reset or late: [`operations`] |
    //! | [`chains`] | the same, and killed functions, in an undo, an export, a copy and a deletion of a dataset |
    //! | [`losses`] | functions are killed at random; the emulator is restarted; the sweeper's schedule is stopped |
    //! | [`handler_calls`] | the same in calls of registered job types: of functions, of `call-handler`, of `image-handler`, and for registrations |
    //! | [`endpoint`] | an HTTPS endpoint resets, is late, refuses, or answers something else |
    //! | [`handler_losses`] | `call-handler` and handlers are killed; messages of their queue are lost and doubled |
    //! | [`deliveries`] | a receiver of webhooks fails and restarts; the functions that send it events are killed |
    //! | [`poison`] | every queue contains an unreadable message |
    //!
    //! All but [`deliveries`] run [`jobs`] over files of 2,000 rows, and compare the outcome of every row with the expected one. The jobs
    //! of registered types are those of [`handled`]; their [`handlers`] record what they process.

    mod calls;
    mod chains;
    mod deliveries;
    mod effects;
    mod endpoint;
    mod handled;
    mod handler_calls;
    mod handler_losses;
    mod handlers;
    mod images;
    mod job_checks;
    pub(crate) mod jobs;
    mod kinds;
    pub(crate) mod losses;
    mod operations;
    mod poison;
    mod receiver;
    pub(crate) mod server;
}
mod game_day;
mod load;
mod release;
mod sample;
mod versions;
