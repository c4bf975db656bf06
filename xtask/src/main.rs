//! `cargo xtask`: the developers' commands.
//!
//! Each command first installs and builds what it needs: a Python environment with the AWS emulator and SAM, and the
//! function binaries. Later runs only update what has changed.

// Output macros that replace those of the standard library.
#[macro_use]
extern crate longshore_cli;

mod demo;
mod deploy_local;
mod fuzz;
mod git;
mod openapi;
mod package;
mod previous_release;
mod prove;
mod shapes;
mod sim;
mod soak;
mod test;
mod token;
mod up;
mod watch;

use anyhow::Result;
use clap::{Parser, Subcommand};
use local_cloud::{guard, local_proxy, project, tools};
use project::{Build, Project};
use std::ffi::OsString;
use std::iter;
use std::process::ExitCode;

/// Run, demonstrate and test Longshore on this machine.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Import a file through the local stack and check every row of the result
    Demo(demo::Options),
    /// Run all tests: unit tests, model, simulation, conformance, and flows on the AWS emulator
    Test(test::Options),
    /// Verify exhaustively that nothing is lost, counted twice or stuck: model, simulation, completion, a second
    /// DynamoDB engine, faults, malformed files, load, the previous release beside this one, a game day, the release
    Prove(prove::Options),
    /// Run the deterministic simulation: the real code over in-memory services with injected faults
    Sim(sim::Options),
    /// Measure speed, price, memory, cold starts and package sizes, and report which goals are met
    Bench(bench::Options),
    /// Find inputs that break a guarantee by coverage-guided fuzzing; saves them in fuzz/artifacts
    Fuzz(fuzz::Options),
    /// Start the local stack, or update a running one
    Up(up::Arguments),
    /// Stop the local stack, and the stack that `bench --keep` left running; succeeds if none is running
    Down,
    /// Serve the HTTP functions with hot reload against the running local stack
    Watch(watch::Options),
    /// Build one function and deploy it to the running local stack
    DeployLocal(deploy_local::Options),
    /// Print a new token of a user of the running local stack: alice, bob or operator
    Token(token::Options),
    /// Generate docs/openapi.json from the code; fails if a change breaks clients
    Openapi(openapi::Options),
    /// Fail if a change of a message, an item or a file breaks the previous release
    Shapes,
    /// Build the functions for AWS into packages that are deployed without Rust
    Package(package::Options),
    /// Run the command line `longshore`; `cargo longshore` is short for it
    // A build of its package alone would have other features of the dependencies, and build the AWS SDK again.
    #[command(disable_help_flag = true)]
    Longshore {
        /// Arguments of the command line
        #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
        arguments: Vec<OsString>,
    },
    /// Remove the test data of `longshore smoke` after it has ended
    #[command(hide = true)]
    SmokeCleanup,
    /// Remove the test data of `longshore load` after it has ended
    #[command(hide = true)]
    LoadCleanup,
    /// Install the Python tools (emulator, SAM, linters) and print their folder
    Tools,
    /// Run the reverse proxy of `up`
    #[command(hide = true)]
    LocalProxy {
        /// Port on 127.0.0.1
        #[arg(long)]
        port: u16,
        /// URL of the API
        #[arg(long)]
        upstream: String,
    },
    /// Stop the stack when the parent process has ended
    #[command(hide = true)]
    Guard {
        /// Guard the benchmark's stack
        #[arg(long)]
        release: bool,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    let project = Project::find()?;
    match command {
        Command::Demo(options) => demo::run(&project, &options),
        Command::Test(options) => test::run(&project, &options),
        Command::Prove(options) => prove::run(&project, &options),
        Command::Sim(options) => sim::run(&project, &options),
        Command::Bench(options) => bench::run(&project, &options),
        Command::Fuzz(options) => fuzz::run(&project, &options),
        Command::Up(arguments) => up::run(&project, arguments),
        Command::Down => local_cloud::up::take_down_all(&project),
        Command::Watch(options) => watch::run(&project, &options),
        Command::DeployLocal(options) => deploy_local::run(&project, &options),
        Command::Token(options) => token::run(&project, &options),
        Command::Openapi(options) => openapi::run(&project, &options),
        Command::Shapes => shapes::run(&project),
        Command::Package(options) => package::run(&project, &options),
        Command::Tools => tools::ensure(&project).map(|tools| println!("{}", tools.venv.display())),
        Command::Longshore { arguments } => return Ok(run_longshore(arguments)),
        Command::SmokeCleanup => return Ok(run_longshore(vec!["smoke-cleanup".into()])),
        Command::LoadCleanup => return Ok(run_longshore(vec!["load-cleanup".into()])),
        Command::LocalProxy { port, upstream } => local_proxy::run(port, &upstream),
        Command::Guard { release: true } => guard::run(&project, Build::Release),
        Command::Guard { release: false } => guard::run(&project, Build::Dev),
    }
    .map(|()| ExitCode::SUCCESS)
}

/// Runs the command line with these arguments.
fn run_longshore(arguments: Vec<OsString>) -> ExitCode {
    longshore_cli::command::run(iter::once("longshore".into()).chain(arguments))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
