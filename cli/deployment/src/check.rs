//! All checks that need no AWS account: template, parameters, binaries.

use std::path::PathBuf;

use anyhow::Result;

use crate::binary::Binary;
use crate::finding::Finding;
use crate::quotas::mapping_concurrency;
use crate::roles::{FUNCTION, Function, functions};
use crate::settings::Settings;
use crate::template::{Parameters, Template};
use crate::{parameters, rules};

/// Maximum length of a stack name. A function name has at most 64 characters, including a suffix such as
/// `-dead-letters`.
const MAX_STACK_NAME: usize = 51;
/// Write units per second that a new on-demand table accepts
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html>).
const WARM_WRITE_UNITS: u64 = 4_000;
/// Maximum concurrency of all mappings together. An account usually has 1,000 concurrent executions.
const MAX_MAPPING_CONCURRENCY: u64 = 500;

/// Checks the template with these settings.
///
/// # Errors
/// If a function of the template has no role, or a queue mapping has no limit.
pub fn template(template: &Template, settings: &Settings) -> Result<Vec<Finding>> {
    let values = settings.effective(template);
    let mut findings = parameters::findings(template, settings);
    findings.extend(rules::findings(template, settings));
    findings.extend(unsuitable_values(template, settings));
    findings.extend(stack_name(settings.stack.as_deref()));
    findings.extend(settings.region.as_deref().and_then(|region| sign_in(template, region, &values)));
    findings.extend(message_loops(template)?);
    // The template has no limits for an unknown environment.
    if parameters::is_accepted(template, &values, "Environment") {
        let concurrency = mapping_concurrency(template, &values)?;
        if concurrency > MAX_MAPPING_CONCURRENCY {
            let problem =
                format!("the queues can run {concurrency} functions at once; an account usually has a quota of 1,000");
            let fix = format!("lower the sum to {MAX_MAPPING_CONCURRENCY}");
            findings.push(Finding::error("Mappings/Concurrency", problem, fix));
        }
    }
    Ok(findings)
}

/// Finds functions whose messages can lead back to them and that do not allow it.
fn message_loops(template: &Template) -> Result<Vec<Finding>> {
    let functions = functions(template)?;
    let stopped = functions.values().filter(|function| function.is_stopped_by_loop_detection(&functions));
    let finding = |function: &Function| {
        let problem = "its messages can lead back to it, and Lambda stops such a loop after about 16 invocations";
        Finding::error(function.id.as_str(), problem, "set RecursiveLoop: Allow")
    };
    Ok(stopped.map(finding).collect())
}

/// Finds values that CloudFormation accepts, but that do not work on AWS.
fn unsuitable_values(template: &Template, settings: &Settings) -> Vec<Finding> {
    let values = settings.effective(template);
    let mut findings = Vec::new();
    let is = |name: &str, value: &str| template.parameter(name, &values).as_deref() == Some(value);
    for (name, value) in [("Environment", "local"), ("RequireTls", "false")] {
        if is(name, value) {
            let problem = format!("{name}={value} is for a local emulator");
            let fix = format!("{}, or deploy another environment (sam deploy --config-env)", settings.change(name));
            findings.push(Finding::error(settings.location(name), problem, fix));
        }
    }
    if is("Access", "open") {
        let problem = "Access=open lets anyone call the API without a token";
        let fix = "use cognito or oidc, unless the network is private";
        findings.push(Finding::warning(settings.location("Access"), problem, fix));
    }
    let warm = template.parameter("RecordsWarmWriteUnits", &values);
    if warm.is_some_and(|units| units != "0" && units.parse().is_ok_and(|units: u64| units < WARM_WRITE_UNITS)) {
        let problem =
            "an on-demand table always accepts 4,000 write units per second, and warm throughput cannot be lowered";
        findings.push(Finding::error(settings.location("RecordsWarmWriteUnits"), problem, "use 0, or at least 4000"));
    }
    if is("ScheduleState", "DISABLED") {
        let problem = "without the sweeper, a job whose message is lost never ends";
        findings.push(Finding::error(settings.location("ScheduleState"), problem, "use ENABLED"));
    }
    findings
}

/// Checks the stack name: an alphabetic first character, then letters, digits and hyphens. The maximum length is less
/// than CloudFormation's, because function names are derived from the stack name.
fn stack_name(name: Option<&str>) -> Option<Finding> {
    let Some(name) = name else {
        let problem = "samconfig.toml has no stack_name for this environment";
        let fix = "set it there, or pass --stack-name to deploy-check and to sam deploy";
        return Some(Finding::warning("stack name", problem, fix));
    };
    let is_valid = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_valid {
        let problem = format!("{name:?} is not allowed by CloudFormation");
        let fix = "use A to Z, digits and hyphens; the first character must not be a digit or hyphen";
        return Some(Finding::error("stack name", problem, fix));
    }
    let problem =
        format!("{name:?} has {} characters; the names of functions, which contain it, would be too long", name.len());
    (name.len() > MAX_STACK_NAME)
        .then(|| Finding::error("stack name", problem, format!("use at most {MAX_STACK_NAME} characters")))
}

/// Rejects Cognito outside of AWS's standard partition: its hosted sign-in page has another domain there, or does not
/// exist.
fn sign_in(template: &Template, region: &str, values: &Parameters) -> Option<Finding> {
    let is_other_partition = region.starts_with("cn-") || region.starts_with("us-gov-");
    let has_pool = template.parameter("Access", values).as_deref() == Some("cognito");
    (is_other_partition && has_pool).then(|| {
        let problem = format!("in {region}, the URL of Cognito's hosted sign-in page differs from the template's");
        Finding::error("Access", problem, "use Access=oidc with your own issuer")
    })
}

/// Checks the binaries of all functions. `code` returns the folder of a function by its `CodeUri`.
pub fn binaries(template: &Template, settings: &Settings, code: impl Fn(&str) -> PathBuf) -> Vec<Finding> {
    let values = settings.effective(template);
    // With an unknown architecture, every binary would be reported as wrong.
    if !parameters::is_accepted(template, &values, "Architecture") {
        return Vec::new();
    }
    let architecture = template.parameter("Architecture", &values).unwrap_or_default();
    let check = |(id, function): (&str, &serde_json::Value)| {
        let file = code(function["CodeUri"].as_str().unwrap_or_default()).join("bootstrap");
        let location = file.display().to_string();
        let fix = "build it with cargo lambda build --release, or pass its folder with --functions";
        match std::fs::read(&file).ok().map(|bytes| Binary::read(&bytes)) {
            None => vec![Finding::error(&location, format!("the binary of {id} does not exist"), fix)],
            Some(None) => vec![Finding::error(&location, "this is not a Linux program", fix)],
            Some(Some(binary)) => binary.findings(&location, &architecture),
        }
    };
    template.of_type(FUNCTION).flat_map(check).collect()
}
