//! Injection of every kind of fault into the calls of registered job types: all operations of `call-handler` and of
//! `image-handler`, and those of `jobs-api` for registrations and images.
//!
//! A wave has one fault for each operation. The complete set has a wave for each kind; in the reduced set the kinds
//! alternate in one wave. Jobs of each [`Target`] and an image job run in a wave, while job types are registered, changed
//! and deleted.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use longshore_domain::random::nonce;
use longshore_tests::harness::faults::Rule;
use longshore_tests::harness::handlers::InvokedBy;
use longshore_tests::harness::stack::Stack;
use serde_json::{Value, json};

use super::effects::Processed;
use super::handled::{Target, run_all};
use super::handlers::{Handlers, handlers};
use super::images::{IMAGES, run_images};
use super::jobs::{Outcome, sweeping};
use super::kinds::{KINDS, Kind};
use super::operations::{OF_CALL_HANDLER, OF_HANDLERS, OF_IMAGE_HANDLER, OF_JOBS_API, Operation};

/// Maximum time for one registration, whose ping can fail.
const PATIENCE: Duration = Duration::from_secs(200);

/// Call in which a fault is injected.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Call {
    /// An operation of `call-handler`. Of invocations, those with batches.
    OfCallHandler(Operation),
    /// An invocation with a ping.
    Ping,
    /// An operation of `jobs-api`.
    OfJobsApi(Operation),
    /// An operation of `image-handler`.
    OfImageHandler(Operation),
}

impl Call {
    fn all() -> Vec<Self> {
        let of_handler = OF_CALL_HANDLER.into_iter().map(Self::OfCallHandler).chain([Self::Ping]);
        let of_handler = of_handler.chain([Self::OfImageHandler(OF_IMAGE_HANDLER)]);
        of_handler.chain(OF_JOBS_API.into_iter().map(Self::OfJobsApi)).collect()
    }

    fn operation(self) -> Operation {
        match self {
            Self::OfCallHandler(operation) | Self::OfJobsApi(operation) | Self::OfImageHandler(operation) => operation,
            Self::Ping => OF_HANDLERS[0],
        }
    }

    /// Returns true for calls that send messages of chunks.
    fn sends_chunks(self) -> bool {
        matches!(self, Self::OfCallHandler(Operation { name: "SendMessage" | "SendMessageBatch", .. }))
    }

    fn name(self) -> String {
        let Operation { service, name } = self.operation();
        match self {
            Self::OfCallHandler(_) => format!("call-handler: {service} {name}"),
            Self::Ping => format!("call-handler: {service} {name}, ping"),
            Self::OfJobsApi(_) => format!("registrations: {service} {name}"),
            Self::OfImageHandler(_) => format!("image-handler: {service} {name}"),
        }
    }

    fn rule(self, kind: Kind, stack: &Stack) -> Result<Value> {
        let mut rule = self.restricted(kind.rule(self.operation()), stack)?;
        if self.operation() == OF_HANDLERS[0] {
            let (schema, times) =
                if self == Self::Ping { ("longshore.ping/1", 1) } else { ("longshore.items/1", INVOCATIONS) };
            rule["body"] = format!("schema == '{schema}'").into();
            rule["times"] = if kind == Kind::Late { 1 } else { times }.into();
        }
        Ok(rule)
    }

    /// Restricts a rule to the calls of the function.
    fn restricted(self, mut rule: Value, stack: &Stack) -> Result<Value> {
        let (function, invoked) = match self {
            Self::OfCallHandler(_) | Self::Ping => ("CallHandler", InvokedBy::Name),
            Self::OfJobsApi(_) => ("JobsApi", InvokedBy::Name),
            Self::OfImageHandler(_) => ("ImageHandler", InvokedBy::Alias),
        };
        let key = stack.access_key(function, invoked)?;
        rule["headers"] = json!({ "Authorization": format!("Credential={key}/") });
        Ok(rule)
    }
}

/// Maximum number of faults of invocations with batches: a ping follows most of them.
const INVOCATIONS: u64 = 4;

type Injection = (Call, Kind);

#[test]
fn with_faults_in_every_call_of_registered_types_every_item_is_counted_as_its_handler_said() {
    let Some(handlers) = handlers() else { return };
    let mut total = without_faults(&handlers);
    for wave in waves() {
        total.add(run(&handlers, &wave));
    }
    total.assert_clean("cargo test -p longshore-tests --test proof with_faults_in_every_call_of_registered");
}

fn waves() -> Vec<Vec<Injection>> {
    if measurements::is_complete_run() {
        let of_kind = |kind| Call::all().into_iter().map(|call| (call, kind)).collect();
        return KINDS.into_iter().map(of_kind).collect();
    }
    vec![Call::all().into_iter().zip(KINDS.into_iter().cycle()).collect()]
}

/// Without faults, each item is processed exactly as often as its handler asks for. No sweep runs: with the short stall time
/// of this stack, it would send a chunk again that waits for a busy machine, and two workers would process its items.
fn without_faults(handlers: &Handlers) -> Outcome {
    run_all(handlers, &Target::ALL, |_| Ok(Processed::Exactly))
}

/// Runs a wave. Its measurements are recorded even if it fails.
fn run(handlers: &Handlers, wave: &[Injection]) -> Outcome {
    let start = Instant::now();
    let mut outcome = Outcome::default();
    match inject(handlers, wave) {
        Ok((wave_outcome, fired)) => {
            for ((call, kind), fired) in wave.iter().zip(fired) {
                let violations = wave_outcome.violations.len() + usize::from(fired == 0);
                record(*call, *kind, fired, &wave_outcome, violations);
                if fired == 0 {
                    outcome.violations.push(format!("{}: the fault {:?} never occurred", call.name(), kind.name()));
                }
            }
            outcome.add(wave_outcome);
        }
        Err(error) => outcome.violations.push(format!("{error:#}")),
    }
    outcome.violations.iter().for_each(|violation| eprintln!("{violation}"));
    eprintln!("a wave of {} took {:.0} s", wave.len(), start.elapsed().as_secs_f64());
    outcome
}

fn record(call: Call, kind: Kind, fired: u64, outcome: &Outcome, violations: usize) {
    let (operation, fault) = (call.name(), kind.name());
    measurements::row(
        "faults",
        &[
            ("operation", &operation),
            ("fault", &fault),
            ("times fired", &fired),
            ("jobs in its wave", &outcome.jobs),
            ("rows in its wave", &outcome.rows),
            ("violations", &violations),
        ],
    );
}

/// Runs jobs and registrations with the faults of a wave. Returns the outcome, and the number of times that each fault
/// was injected.
fn inject(handlers: &Handlers, wave: &[Injection]) -> Result<(Outcome, Vec<u64>)> {
    let stack = &handlers.stack;
    let faults = stack.faults()?;
    faults.set(&[])?;
    // The secret is read at a cold start.
    handlers.cool_down(&["CallHandlerFunctionName", "JobsApiFunctionName"])?;
    // The SDK does not retry this refusal: the delivery fails before it calls the endpoint, and is repeated.
    let secret = Call::OfCallHandler(OF_HANDLERS[1]);
    let refusal = json!({ "service": "secretsmanager", "operation": "GetSecretValue", "times": 1,
        "error": { "code": "AccessDeniedException", "status": 400 } });
    faults.add(&secret.restricted(refusal, stack)?)?;
    let rules: Result<Vec<_>> = wave.iter().map(|(call, kind)| faults.add(&call.rule(*kind, stack)?)).collect();
    let rules = rules?;
    // An invocation whose reply is lost has an effect, and is followed by another one with its items.
    let is_lost = |(call, kind): &Injection| *call == Call::OfCallHandler(OF_HANDLERS[0]) && *kind == Kind::Lost;
    let lost = wave.iter().position(is_lost).map(|i| &rules[i]);
    // A send whose reply is lost is repeated by the SDK: the message of a round comes twice, and two workers process its
    // items at the same time. The bodies that the proxy passed on showed it: two calls in one round, 0.2 s apart.
    let is_doubled = wave.iter().any(|(call, kind)| call.sends_chunks() && *kind == Kind::Lost);
    let processed = |target| {
        let more = match lost {
            Some(rule) if target != Target::Endpoint => rule.fired()?,
            _ => 0,
        };
        Ok(if is_doubled { Processed::UpToTwiceAndMore(more) } else { Processed::UpToMore(more) })
    };
    let outcome = sweeping(stack, || {
        std::thread::scope(|scope| {
            let registrations = scope.spawn(|| registrations(handlers));
            let images = scope.spawn(|| run_images(handlers));
            let mut outcome = run_all(handlers, &Target::ALL, processed);
            outcome.add(Outcome::of(IMAGES, images.join().unwrap_or_else(|_| bail!("the images have panicked"))));
            let registered = registrations.join().unwrap_or_else(|_| bail!("the registrations have panicked"));
            outcome.violations.extend(registered.err().map(|error| format!("registrations: {error:#}")));
            outcome
        })
    });
    let fired: Result<Vec<_>> = rules.iter().map(Rule::fired).collect();
    let fired = fired?;
    faults.set(&[])?;
    Ok((outcome, fired))
}

/// Registers job types, changes one, reads a secret, and deletes them.
fn registrations(handlers: &Handlers) -> Result<()> {
    let operator = &handlers.operator;
    let (function, endpoint) = (format!("function-{}", nonce()), format!("endpoint-{}", nonce()));
    let mut content = handlers.content(Target::Function);
    register(handlers, &function, &content)?;
    content["concurrency"] = 3.into();
    register(handlers, &function, &content)?;
    let found = operator.get(&format!("/api/job-types/{function}"))?.expect(200)?;
    ensure!(found["concurrency"] == 3 && found["candidate"].is_null(), "{found}");
    // The endpoint does not know the secret of this name, so its ping is bad.
    operator.put_job_type(&endpoint, &handlers.content(Target::Endpoint))?.expect(202)?;
    handlers.read_secret(&endpoint)?;
    let list = operator.get("/api/job-types")?.expect(200)?;
    let names: Vec<_> = list["jobTypes"].as_array().context("no list")?.iter().map(|found| &found["name"]).collect();
    ensure!(names.contains(&&json!(function)) && names.contains(&&json!(endpoint)), "{list}");
    for name in [function, endpoint] {
        let answer = operator.call("DELETE", &format!("/api/job-types/{name}"), &[], &[])?;
        ensure!(matches!(answer.status, 204 | 404), "{} {}", answer.status, answer.text());
        operator.get(&format!("/api/job-types/{name}"))?.expect(404)?;
    }
    Ok(())
}

/// Registers a content until it is active. A candidate whose ping failed is registered again, as an operator would, and
/// so is one whose ping was not asked for.
fn register(handlers: &Handlers, name: &str, content: &Value) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = handlers.operator.put_job_type(name, content)?;
        ensure!(matches!(answer.status, 200 | 202), "{} {}", answer.status, answer.text());
        if answer.status == 200 {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "the job type {name} is not active in time: {}", answer.text());
        std::thread::sleep(Duration::from_millis(500));
    }
}
