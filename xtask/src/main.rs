//! `cargo xtask`: the developer's commands.
//!
//! A fresh clone has no tools. Each command first installs and builds what it needs (a Python environment with the
//! local emulator and SAM, the function binaries), and later only what has changed.

// First, so that all other modules see its macros.
#[macro_use]
mod output;

mod account;
mod api;
mod bench;
mod cargo;
mod dead_letters;
mod demo;
mod deploy;
mod deploy_check;
mod deploy_local;
mod down;
mod emulator;
mod functions;
mod fuzz;
mod guard;
mod local_proxy;
mod machine;
mod markdown;
mod openapi;
mod page;
mod process;
mod progress;
mod project;
mod prove;
mod receipt;
mod sim;
mod smoke;
mod stack;
mod state;
mod test;
mod tools;
mod up;
mod users;
mod watch;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Set up, run, demonstrate and test Longshore on this machine.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Import a file through the whole local stack and check every row of the result
    Demo(demo::Options),
    /// Run all tests: rules, model, properties, conformance, and flows on the emulator
    Test(test::Options),
    /// Verify at length that nothing is lost, counted twice or stuck: model, simulation, faults, malformed files,
    /// load
    Prove(prove::Options),
    /// Run the deterministic simulation: the real code over in-memory services with injected faults
    Sim(sim::Options),
    /// Measure speed, price, memory, cold starts and package sizes, and report which goals are met
    Bench(bench::Options),
    /// Find inputs that break a guarantee, by coverage-guided fuzzing; crashes are kept in tests/fuzz/artifacts
    Fuzz(fuzz::Options),
    /// Start the local stack, or update a running one
    Up(up::Options),
    /// Report what would make a deployment to AWS fail, not work or lose data; changes nothing
    DeployCheck(deploy_check::Options),
    /// Import a small file through a deployed stack, check every row, and remove all test data
    Smoke(smoke::Options),
    /// Stop the local stack; succeeds if none is running
    Down,
    /// Serve the HTTP functions with hot reload against the running local stack
    Watch(watch::Options),
    /// Build one function and deploy it to the running local stack
    DeployLocal(deploy_local::Options),
    /// Print a fresh token of a user of the running local stack: alice, bob or operator
    Token(users::Options),
    /// List, show, replay and discard dead letters of the local stack or of any deployment
    DeadLetters(dead_letters::Options),
    /// Generate docs/openapi.json from the code; refuses changes that break clients
    Openapi(openapi::Options),
    /// Verify a job's receipt against the files that it names
    VerifyReceipt(receipt::Options),
    /// Install the Python tools (emulator, SAM, linters) and print their folder
    Tools,
    /// Run the reverse proxy of `up`
    #[command(hide = true)]
    LocalProxy(local_proxy::Options),
    /// Stop the stack when the parent process has ended
    #[command(hide = true)]
    Guard(guard::Options),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let project = project::Project::find()?;
    match command {
        Command::Demo(options) => demo::run(&project, &options),
        Command::Test(options) => test::run(&project, &options),
        Command::Prove(options) => prove::run(&project, &options),
        Command::Sim(options) => sim::run(&project, &options),
        Command::Bench(options) => bench::run(&project, &options),
        Command::Fuzz(options) => fuzz::run(&project, &options),
        Command::Up(options) => up::run(&project, &options),
        Command::DeployCheck(options) => deploy_check::run(&project, &options),
        Command::Smoke(options) => smoke::run(&project, &options),
        Command::Down => down::run(&project),
        Command::Watch(options) => watch::run(&project, &options),
        Command::DeployLocal(options) => deploy_local::run(&project, &options),
        Command::Token(options) => users::run(&project, &options),
        Command::DeadLetters(options) => dead_letters::run(&project, &options),
        Command::Openapi(options) => openapi::run(&project, &options),
        Command::VerifyReceipt(options) => receipt::run(&options),
        Command::Tools => tools::print_place(&project),
        Command::LocalProxy(options) => local_proxy::run(&options),
        Command::Guard(options) => guard::run(&project, &options),
    }
}
