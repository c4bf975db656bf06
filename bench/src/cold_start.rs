//! Cold starts: the startup time of a new process, compared with the smallest possible function; and package sizes,
//! which affect cold starts.
//!
//! The baseline and the functions run in turn, so that other load on the machine affects all of them equally. The first
//! poll is measured without an endpoint, as on AWS, where the preparation of TLS is part of a cold start. The first
//! response is measured with the emulator.

use crate::runtime_api;
use crate::statistics::median;
use anyhow::{Context, Result, ensure};
use local_cloud::project::Project;
use local_cloud::stack::Stack;
use local_cloud::state::State;
use local_cloud::tools::Tools;
use local_cloud::{cargo, functions};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Package of the baseline, an empty function.
pub(crate) const BASELINE: &str = "cold-start-baseline";

/// Number of runs of each function. It is odd, so that there is a median.
pub(crate) const RUNS: usize = 21;

/// Id of a job that does not exist, so that a response needs a single lookup.
const ABSENT_JOB: &str = "0199a0f0-0000-7000-8000-000000000000";

/// Zips a file as SAM does, and prints the size of the archive.
const ZIP: &str = "import io, sys, zipfile
archive = io.BytesIO()
with zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED) as file:
    file.write(sys.argv[1], 'bootstrap')
print(len(archive.getvalue()))";

/// The median cold start of a function, in milliseconds.
pub(crate) struct ColdStart {
    pub(crate) function: &'static str,
    /// Time from spawn to first poll.
    pub(crate) poll_ms: f64,
    /// Time from spawn to first response. The baseline calls no service; the functions call DynamoDB.
    pub(crate) response_ms: f64,
}

/// Sizes of a function's binary and package, in bytes.
pub(crate) struct Size {
    pub(crate) function: String,
    pub(crate) bootstrap: u64,
    pub(crate) zipped: u64,
}

struct Subject {
    function: &'static str,
    bootstrap: PathBuf,
    environment: BTreeMap<String, String>,
    event: String,
    polls: Vec<Duration>,
    responses: Vec<Duration>,
}

/// Measures the baseline and the functions, in this order.
pub(crate) fn measure(project: &Project, stack: &Stack<'_>, state: &State) -> Result<Vec<ColdStart>> {
    let binaries = cargo::build_binaries(project, &[BASELINE.to_owned()])?;
    let baseline = binaries.get(BASELINE).context("the baseline has no binary")?;
    let mut subjects = vec![
        subject(BASELINE, baseline.clone(), BTreeMap::new(), "{}".to_owned()),
        function(project, stack, state, "jobs-api", http_event())?,
        function(project, stack, state, "process-item", queue_event())?,
    ];
    // The first round warms up the disk cache and does not count.
    for round in 0..=RUNS {
        for subject in &mut subjects {
            let (poll, response) = subject.start().with_context(|| format!("cold start of {}", subject.function))?;
            if round > 0 {
                subject.polls.push(poll);
                subject.responses.push(response);
            }
        }
    }
    Ok(subjects.iter().map(Subject::median).collect())
}

fn function(project: &Project, stack: &Stack<'_>, state: &State, name: &'static str, event: String) -> Result<Subject> {
    let mut environment = stack.cloud()?.function_config(state.physical_name(name)?)?.environment;
    environment.insert("AWS_ENDPOINT_URL".to_owned(), state.emulator_url.clone());
    Ok(subject(name, project.bootstrap(name), environment, event))
}

/// Creates a subject, with the environment variables that Lambda sets.
fn subject(
    function: &'static str,
    bootstrap: PathBuf,
    mut environment: BTreeMap<String, String>,
    event: String,
) -> Subject {
    let variables = [
        ("AWS_LAMBDA_FUNCTION_NAME", function),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ];
    environment.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Subject { function, bootstrap, environment, event, polls: Vec::new(), responses: Vec::new() }
}

impl Subject {
    /// Starts the function twice. Returns the times of the first poll and of the first response.
    fn start(&self) -> Result<(Duration, Duration)> {
        let mut without_endpoint = self.environment.clone();
        without_endpoint.remove("AWS_ENDPOINT_URL");
        let poll = runtime_api::first_poll(&self.bootstrap, &without_endpoint)?;
        Ok((poll, runtime_api::first_response(&self.bootstrap, &self.environment, &self.event)?))
    }

    fn median(&self) -> ColdStart {
        let median_ms = |times: &[Duration]| {
            let ms: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1000.0).collect();
            median(&ms)
        };
        ColdStart { function: self.function, poll_ms: median_ms(&self.polls), response_ms: median_ms(&self.responses) }
    }
}

/// Returns the event of `GET /api/jobs/{id}`, as an HTTP API sends it.
fn http_event() -> String {
    let path = format!("/api/jobs/{ABSENT_JOB}");
    json!({
        "version": "2.0", "routeKey": "GET /api/jobs/{jobId}", "rawPath": path, "rawQueryString": "",
        "headers": { "host": "bench.example", "accept": "application/json" },
        "pathParameters": { "jobId": ABSENT_JOB },
        "requestContext": {
            "accountId": "000000000000", "apiId": "bench", "domainName": "bench.example", "domainPrefix": "bench",
            "http": { "method": "GET", "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "bench" },
            "requestId": "bench-1", "routeKey": "GET /api/jobs/{jobId}", "stage": "$default",
            "authorizer": { "jwt": { "claims": { "sub": "bench", "client_id": "bench" }, "scopes": null } },
            "time": "21/Nov/2026:00:00:00 +0000", "timeEpoch": 1_795_219_200_000_u64
        },
        "isBase64Encoded": false
    })
    .to_string()
}

/// Returns the event of a chunk of that job, as the queue's event source mapping sends it.
fn queue_event() -> String {
    let plan = json!({ "first": 1, "items": 1, "start": 0, "end": 1, "oversize": false });
    let chunk = json!({ "jobId": ABSENT_JOB, "tenant": "default", "group": 0, "chunk": 0, "plan": plan });
    json!({ "Records": [{
        "messageId": "bench-1", "receiptHandle": "bench-1", "body": chunk.to_string(), "md5OfBody": "",
        "attributes": { "ApproximateReceiveCount": "1", "SentTimestamp": "1795219200000", "MessageGroupId": "default",
            "SenderId": "bench", "ApproximateFirstReceiveTimestamp": "1795219200000" },
        "messageAttributes": {}, "eventSource": "aws:sqs", "awsRegion": "us-east-1",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:bench"
    }] })
    .to_string()
}

/// Measures the binaries and packages of all functions.
pub(crate) fn measure_sizes(project: &Project, tools: &Tools) -> Result<Vec<Size>> {
    let names = functions::names(project)?;
    names.into_iter().map(|function| size(project, tools, function)).collect()
}

fn size(project: &Project, tools: &Tools, function: String) -> Result<Size> {
    let path = project.bootstrap(&function);
    let bootstrap = fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?.len();
    let output = tools.command("python").args(["-c", ZIP]).arg(&path).output()?;
    ensure!(output.status.success(), "cannot zip {}", path.display());
    let zipped = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Size { function, bootstrap, zipped })
}
