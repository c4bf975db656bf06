//! `longshore`: the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    longshore_cli::command::run(std::env::args_os())
}
