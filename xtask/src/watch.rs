//! `watch`: hot reload of the HTTP functions.
//!
//! The functions behind the API's routes run under `cargo lambda watch`, which rebuilds them when a file changes,
//! with the environment that they have on the stack. Queue functions stay as deployed. A second local proxy sends
//! each route to whichever of the two serves it; the stack's own proxy is unchanged. No gateway behind the second
//! proxy checks tokens: calls need none, and all belong to the tenant `default`.

use crate::up;
use anyhow::{Context, Result, bail};
use local_cloud::functions;
use local_cloud::local_proxy::{self, Upstream};
use local_cloud::process::free_port;
use local_cloud::project::Project;
use local_cloud::stack::Stack;
use local_cloud::state::{self, State};
use local_cloud::tools;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// Timeout of a request; the first one waits for the first build.
const PATIENCE: Duration = Duration::from_secs(600);

/// Options of `watch`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Port of the API on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

/// A function under `cargo lambda watch`.
struct Watched {
    function: String,
    /// Name on the stack, by which routes refer to the function.
    name: String,
    port: u16,
    process: Child,
}

/// Runs the command until Ctrl-C.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let tools = tools::ensure(project)?;
    let mut state = state::read(project)?;
    if !state.is_up() {
        state = up::bring_up(project, &up::Options::default())?;
    }
    let stack = Stack { project, tools: &tools, endpoint: &state.emulator_url };
    let api = state.output("ApiId")?;
    let routes = stack.cloud()?.routes(api)?;
    let mut watched = Vec::new();
    for function in functions::names(project)? {
        let name = state.physical_name(&function)?;
        if routes.values().any(|target| target == name) {
            watched.push(watch(&stack, &function, name)?);
        }
    }
    let default = format!("{}/_aws/execute-api/{api}/$default", state.emulator_url);
    let mut upstream = Upstream::new(default, PATIENCE);
    for (route, target) in &routes {
        if let Some(Watched { function, port, .. }) = watched.iter().find(|watched| &watched.name == target) {
            upstream = upstream.with_route(route, format!("http://127.0.0.1:{port}/lambda-url/{function}"));
        }
    }
    open(options, upstream, &state, &watched)?;
    wait(&mut watched)
}

fn watch(stack: &Stack<'_>, function: &str, name: &str) -> Result<Watched> {
    let config = stack.cloud()?.function_config(name)?;
    let port = free_port()?;
    let mut cargo_lambda = Command::new(stack.tools.program("cargo-lambda"));
    let scrubbed = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        !name.starts_with("AWS_") && !name.starts_with("CARGO_PKG_") && !name.starts_with("CARGO_MANIFEST_")
    });
    cargo_lambda
        .current_dir(&stack.project.root)
        .env_clear()
        .envs(scrubbed)
        .env("PATH", stack.tools.path())
        .envs(config.environment)
        // Calls do not pass through the gateway, so no token has been checked.
        .env("LONGSHORE_ACCESS", "open")
        .env("AWS_ENDPOINT_URL", stack.endpoint)
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .args(["lambda", "watch", "--package", function])
        .args(["--invoke-address", "127.0.0.1", "--invoke-port", &port.to_string()]);
    let process = cargo_lambda.spawn().context("cannot run cargo-lambda")?;
    Ok(Watched { function: function.to_owned(), name: name.to_owned(), port, process })
}

fn open(options: &Options, upstream: Upstream, state: &State, watched: &[Watched]) -> Result<()> {
    let port = match options.port {
        Some(port) => port,
        None => free_port()?,
    };
    let listener = local_proxy::listen(port)?;
    thread::spawn(move || local_proxy::serve(listener, upstream));
    let names: Vec<&str> = watched.iter().map(|watched| watched.function.as_str()).collect();
    println!("\n  http://127.0.0.1:{port}  with hot reload: {}", names.join(", "));
    println!("  {}  as deployed", state.api_url);
    println!("\nCalls of the first need no token and belong to the tenant default, who has jobs of his own.");
    println!("A function is built at its first request, and again when its code changes. End with Ctrl-C;");
    println!("the stack goes on running until `cargo xtask down`.\n");
    Ok(())
}

/// Waits until a watcher ends by itself. Ctrl-C ends the whole command.
fn wait(watched: &mut [Watched]) -> Result<()> {
    loop {
        for Watched { function, process, .. } in watched.iter_mut() {
            if let Some(status) = process.try_wait()? {
                bail!("cargo lambda watch for {function} ended ({status})");
            }
        }
        thread::sleep(Duration::from_millis(200));
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Fails only if the process has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
