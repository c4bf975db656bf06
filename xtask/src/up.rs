//! `up`: starts the local stack, or updates a running one.

pub(crate) use local_cloud::up::{Options, bring_up};

use anyhow::Result;
use local_cloud::project::Project;
use local_cloud::state::{State, User};

/// Options of `up`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Use the AWS emulator at this URL, such as LocalStack, instead of starting one
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// Port of the API on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

/// Runs the command: starts the stack and prints its URLs.
pub(crate) fn run(project: &Project, arguments: Arguments) -> Result<()> {
    let Arguments { endpoint, port } = arguments;
    let state = bring_up(project, &Options { endpoint, port })?;
    println!();
    println!("  page      {}", state.web_url);
    println!("  API       {}", state.api_url);
    println!("  emulator  {}", state.emulator_url);
    println!("  state     .longshore/local.json, with logs in the same folder");
    show_sign_in(&state);
    println!();
    println!("To deploy changed code, run `cargo xtask up` again, or use `cargo xtask watch`.");
    println!("To stop the stack, run `cargo xtask down`.");
    Ok(())
}

/// Prints how to sign in on the page and in a shell. The password is valid on this local emulator only.
pub(crate) fn show_sign_in(state: &State) {
    if let Some(User { name, password, .. }) = state.users.first() {
        println!("  sign-in   {name}, password {password}");
        println!("            curl -H \"Authorization: Bearer $(cargo xtask token {name})\" …");
    }
}
