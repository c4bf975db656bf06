//! The run: one check after the other, its output, and its exit code.

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use longshore_domain::ids::JobId;
use longshore_outbound::local::LocalOnly;
use longshore_outbound::secret::SigningSecret;
use longshore_outbound::url::UrlError;
use tokio::time::sleep;

use super::caller::Caller;
use super::checks;
use super::lab::{Lab, Notebook};
use super::options::{Options, SECRET};
use super::order::Check;
use super::output::{Document, Verdict, lines};
use super::report::Report;
use super::samples::Samples;
use super::target::Target;
use super::transport::{Endpoint, EndpointError, Function, Transport};
use crate::aws::session::Session;
use crate::output::progress::note;

/// Exit code of wrong usage, which is that of clap.
const USAGE: u8 = 2;
/// Exit code if the handler cannot be reached.
const UNREACHABLE: u8 = 3;

/// Time after which a running check is named on standard error, and again after the longer one.
const PROGRESS: Duration = Duration::from_secs(2);
const PROGRESS_AGAIN: Duration = Duration::from_secs(10);

/// Runs the checks.
///
/// # Errors
/// If the command itself fails.
pub fn run(options: &Options) -> Result<ExitCode> {
    match &options.target {
        Target::Https(url) => {
            let endpoint = match endpoint(url, options) {
                Ok(endpoint) => endpoint,
                Err(error) => {
                    eprintln!("error: {error:#}");
                    return Ok(ExitCode::from(USAGE));
                }
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run_all(options, Transport::Https(Box::new(endpoint))))
        }
        Target::Lambda(arn) => {
            let session = match Session::open(options.endpoint.as_deref()) {
                Ok(session) => session,
                Err(error) => return finish(options, unreachable(options, format!("{error:#}"))),
            };
            let function = Function::new(session.config(), arn);
            session.block_on(run_all(options, Transport::Lambda(function)))
        }
    }
}

/// Reads what an endpoint needs. Every error is one of usage.
fn endpoint(url: &str, options: &Options) -> Result<Endpoint> {
    let secret = std::env::var(SECRET).ok().filter(|secret| !secret.is_empty());
    let secret = secret.map(|secret| SigningSecret::parse(&secret)).transpose();
    let secret = secret.with_context(|| format!("the variable {SECRET}"))?;
    let local = match (&options.environment, &options.local_roots) {
        (Some(environment), Some(file)) => {
            let roots = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            Some(LocalOnly::new(environment, &roots)?)
        }
        _ => None,
    };
    Endpoint::new(url, secret, local).map_err(|error| match error {
        EndpointError::Url(UrlError::HostNotAllowed(host)) => anyhow!("{host} is not a public host"),
        EndpointError::Url(error) => error.into(),
        EndpointError::Client(error) => error.into(),
    })
}

async fn run_all(options: &Options, transport: Transport) -> Result<ExitCode> {
    let lab = Lab {
        caller: Caller::new(transport, options.timeout()),
        samples: options.items.clone().unwrap_or_else(Samples::neutral),
        stack: options.stack.clone(),
        has_secret: std::env::var_os(SECRET).is_some_and(|secret| !secret.is_empty()),
        mode: options.mode.map(super::options::ModeArgument::mode),
        job_id: JobId::generate(),
        job_type: options.job_type.clone(),
        options: options.options.clone(),
    };
    let mut notebook = Notebook::default();
    let mut reports = Vec::new();
    for check in Check::ALL {
        let report = make(check, &lab, &mut notebook).await?;
        if let Some(reason) = notebook.unreachable.take() {
            return finish(options, Document { calls: lab.caller.calls(), ..unreachable(options, reason) });
        }
        if !options.json {
            println!("{}", lines(&report));
        }
        reports.push(report);
    }
    let document = Document::new(options.target.to_string(), reports, lab.caller.elapsed());
    let mode = notebook.facts.mode.filter(|_| notebook.facts.modes.is_some());
    finish(options, Document { calls: lab.caller.calls(), mode, ..document })
}

/// Makes a check unless it is skipped, and measures it.
async fn make(check: Check, lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    notebook.facts.is_spent = lab.caller.is_spent();
    if let Some(reason) = check.skipped(&notebook.facts) {
        return Ok(Report::skipped(check, reason));
    }
    let begun = lab.caller.elapsed();
    let report = with_progress(check, checks::make(check, lab, notebook)).await?;
    Ok(Report { took: lab.caller.elapsed() - begun, ..report })
}

/// Names a check that takes long on standard error.
async fn with_progress<T>(check: Check, made: impl Future<Output = T>) -> T {
    let progress = async {
        let mut wait = PROGRESS;
        loop {
            sleep(wait).await;
            note(&format!("  {}...", check.title()));
            wait = PROGRESS_AGAIN;
        }
    };
    tokio::select! {
        made = made => made,
        () = progress => unreachable!(),
    }
}

fn unreachable(options: &Options, reason: String) -> Document {
    let document = Document::new(options.target.to_string(), Vec::new(), Duration::ZERO);
    Document { verdict: Verdict::Unreachable, error: Some(reason), ..document }
}

/// Prints the end of a run, and returns its exit code.
fn finish(options: &Options, document: Document) -> Result<ExitCode> {
    if options.json {
        println!("{}", serde_json::to_string_pretty(&document)?);
    } else if document.verdict != Verdict::Unreachable {
        println!("\n{}", document.summary());
    }
    Ok(match document.verdict {
        Verdict::Passed => ExitCode::SUCCESS,
        Verdict::Failed => ExitCode::FAILURE,
        Verdict::Unreachable => {
            let reason = document.error.unwrap_or_default();
            eprintln!("error: the handler cannot be reached, so nothing was checked: {reason}");
            ExitCode::from(UNREACHABLE)
        }
    })
}
