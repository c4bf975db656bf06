//! `watch`: hot reload of the HTTP functions.
//!
//! The functions behind the API's routes run under `cargo lambda watch`, with the same environment as on the stack. It
//! rebuilds a function when a file changes. Queue functions stay as deployed. A second local proxy forwards the routes
//! of these functions to them, and all other requests to the stack. The second proxy has no gateway that checks tokens:
//! calls need no token, and belong to the tenant `default`.

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

/// Timeout of a request. The first request waits for the first build.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// Options of `watch`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Port of the API on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

/// A function under `cargo lambda watch`.
struct WatchedFunction {
    function: String,
    /// Name of the function on the stack; routes refer to it.
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
    let mut functions = Vec::new();
    for function in functions::names(project)? {
        let name = state.physical_name(&function)?;
        if routes.values().any(|target| target == name) {
            functions.push(watch(&stack, &function, name)?);
        }
    }
    let default = format!("{}/_aws/execute-api/{api}/$default", state.emulator_url);
    let mut upstream = Upstream::new(default, REQUEST_TIMEOUT);
    for (route, target) in &routes {
        if let Some(WatchedFunction { function, port, .. }) = functions.iter().find(|watched| &watched.name == target) {
            upstream = upstream.with_route(route, format!("http://127.0.0.1:{port}/lambda-url/{function}"));
        }
    }
    serve(options, upstream, &state, &functions)?;
    wait(&mut functions)
}

fn watch(stack: &Stack<'_>, function: &str, name: &str) -> Result<WatchedFunction> {
    let config = stack.cloud()?.function_config(name)?;
    let port = free_port()?;
    let mut cargo_lambda = Command::new(stack.tools.program("cargo-lambda"));
    let environment = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        !name.starts_with("AWS_") && !name.starts_with("CARGO_PKG_") && !name.starts_with("CARGO_MANIFEST_")
    });
    cargo_lambda
        .current_dir(&stack.project.root)
        .env_clear()
        .envs(environment)
        .env("PATH", stack.tools.path())
        .envs(config.environment)
        // Without the gateway, tokens are not checked.
        .env("LONGSHORE_ACCESS", "open")
        .env("AWS_ENDPOINT_URL", stack.endpoint)
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .args(["lambda", "watch", "--package", function])
        .args(["--invoke-address", "127.0.0.1", "--invoke-port", &port.to_string()]);
    let process = cargo_lambda.spawn().context("cannot run cargo-lambda")?;
    Ok(WatchedFunction { function: function.to_owned(), name: name.to_owned(), port, process })
}

fn serve(options: &Options, upstream: Upstream, state: &State, functions: &[WatchedFunction]) -> Result<()> {
    let port = match options.port {
        Some(port) => port,
        None => free_port()?,
    };
    let listener = local_proxy::listen(port)?;
    thread::spawn(move || local_proxy::serve(listener, upstream));
    let names: Vec<&str> = functions.iter().map(|watched| watched.function.as_str()).collect();
    println!("\n  http://127.0.0.1:{port}  with hot reload: {}", names.join(", "));
    println!("  {}  as deployed", state.api_url);
    println!("\nCalls to the first URL need no token and belong to the tenant `default`.");
    println!("A function is built at its first request, and again when its code changes.");
    println!("Ctrl-C ends this command. The stack keeps running until `cargo xtask down`.\n");
    Ok(())
}

/// Waits until a process ends unexpectedly. Ctrl-C ends the command.
fn wait(functions: &mut [WatchedFunction]) -> Result<()> {
    loop {
        for WatchedFunction { function, process, .. } in functions.iter_mut() {
            if let Some(status) = process.try_wait()? {
                bail!("cargo lambda watch for {function} ended ({status})");
            }
        }
        thread::sleep(Duration::from_millis(200));
    }
}

impl Drop for WatchedFunction {
    fn drop(&mut self) {
        // Fails only if the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
