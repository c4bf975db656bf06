//! All checks that need no AWS: template, parameters, binaries.

use std::path::PathBuf;

use anyhow::Result;

use crate::binary::Binary;
use crate::finding::Finding;
use crate::quotas::mappings_at_once;
use crate::roles::{FUNCTION, Function, functions};
use crate::settings::Settings;
use crate::template::{Parameters, Template};
use crate::{parameters, rules};

/// Maximum length of a stack name. A function name has at most 64 characters, including a suffix such as
/// `-dead-letters`.
const STACK_NAME: usize = 51;
/// Write units per second that an on-demand table accepts from the start
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html>).
const WARM_WRITE_UNITS: u64 = 4_000;
/// Maximum concurrency of all mappings, of the 1,000 executions that an account usually has.
const MAPPINGS: u64 = 500;

/// Lists the findings in the template under these settings.
///
/// # Errors
/// If a function of the template has no role or no limit.
pub fn template(template: &Template, settings: &Settings) -> Result<Vec<Finding>> {
    let given = settings.effective(template);
    let mut found = parameters::findings(template, settings);
    found.extend(rules::findings(template, settings));
    found.extend(unfit(template, settings));
    found.extend(stack_name(settings.stack.as_deref()));
    found.extend(settings.region.as_deref().and_then(|region| sign_in(template, region, &given)));
    found.extend(loops(template)?);
    // An unknown environment has no limits in the mappings.
    if parameters::is_accepted(template, &given, "Environment") {
        let at_once = mappings_at_once(template, &given)?;
        if at_once > MAPPINGS {
            let what = format!("the queues may run {at_once} functions at once, of 1,000 that an account usually has");
            found.push(Finding::error("Mappings/Concurrency", what, format!("lower them to {MAPPINGS} in all")));
        }
    }
    Ok(found)
}

fn loops(template: &Template) -> Result<Vec<Finding>> {
    let functions = functions(template)?;
    let looping = functions
        .values()
        .filter(|function| function.leads_to_itself(&functions) && function.recursive_loop.as_deref() != Some("Allow"));
    let finding = |function: &Function| {
        let what = "its messages may lead back to it, and Lambda stops such a chain after about 16 of them";
        Finding::error(function.id.as_str(), what, "set RecursiveLoop: Allow")
    };
    Ok(looping.map(finding).collect())
}

/// Finds values that CloudFormation accepts but that do not work on AWS.
fn unfit(template: &Template, settings: &Settings) -> Vec<Finding> {
    let given = settings.effective(template);
    let mut found = Vec::new();
    let is = |name: &str, value: &str| template.parameter(name, &given).as_deref() == Some(value);
    for (name, value) in [("Environment", "local"), ("RequireTls", "false")] {
        if is(name, value) {
            let what = format!("{name}={value} is for an emulator on this machine");
            let fix = format!("{}, or deploy another environment (sam deploy --config-env)", settings.change(name));
            found.push(Finding::error(settings.place(name), what, fix));
        }
    }
    if is("Access", "open") {
        let what = "Access=open lets anybody in, without a token";
        let fix = "use cognito or oidc unless the network is your own";
        found.push(Finding::warning(settings.place("Access"), what, fix));
    }
    let warm = template.parameter("RecordsWarmWriteUnits", &given);
    if warm.is_some_and(|units| units != "0" && units.parse().is_ok_and(|units: u64| units < WARM_WRITE_UNITS)) {
        let what =
            "an on-demand table takes 4,000 write units a second in any case, and warm throughput is never lowered";
        found.push(Finding::error(settings.place("RecordsWarmWriteUnits"), what, "0, or 4000 and more"));
    }
    if is("ScheduleState", "DISABLED") {
        let what = "without the sweeper, jobs whose messages are lost hang";
        found.push(Finding::error(settings.place("ScheduleState"), what, "leave it ENABLED"));
    }
    found
}

/// Checks the stack name: an alphabetic first character, then letters, digits and hyphens. The limit is shorter than
/// CloudFormation's, because function names are derived from it.
fn stack_name(name: Option<&str>) -> Option<Finding> {
    let Some(name) = name else {
        let what = "samconfig.toml has no stack_name for this environment";
        return Some(Finding::warning("stack name", what, "set it there, or give --stack-name here and to sam deploy"));
    };
    let is_valid = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_valid {
        let what = format!("{name:?} is not allowed by CloudFormation");
        return Some(Finding::error("stack name", what, "use A to Z, digits and hyphens, not a digit or hyphen first"));
    }
    let what =
        format!("{name:?} has {} characters, and the names of functions made of it would be too long", name.len());
    (name.len() > STACK_NAME).then(|| Finding::error("stack name", what, format!("at most {STACK_NAME} characters")))
}

/// Rejects Cognito outside AWS's standard partition, where the hosted sign-in page has another domain or does not
/// exist.
fn sign_in(template: &Template, region: &str, given: &Parameters) -> Option<Finding> {
    let elsewhere = region.starts_with("cn-") || region.starts_with("us-gov-");
    let has_pool = template.parameter("Access", given).as_deref() == Some("cognito");
    (elsewhere && has_pool).then(|| {
        let what = format!("the hosted sign-in page of Cognito has no address as the template writes it in {region}");
        Finding::error("Access", what, "use Access=oidc with an issuer of yours")
    })
}

/// Checks the binaries of all functions. `code` returns the folder of a function by its `CodeUri`.
pub fn binaries(template: &Template, settings: &Settings, code: impl Fn(&str) -> PathBuf) -> Vec<Finding> {
    let given = settings.effective(template);
    // With an unknown architecture, every binary would be reported as wrong.
    if !parameters::is_accepted(template, &given, "Architecture") {
        return Vec::new();
    }
    let architecture = template.parameter("Architecture", &given).unwrap_or_default();
    let check = |(id, function): (&str, &serde_json::Value)| {
        let file = code(function["CodeUri"].as_str().unwrap_or_default()).join("bootstrap");
        let place = file.display().to_string();
        let fix = "build it by cargo lambda build --release, or name its folder by --functions";
        match std::fs::read(&file).ok().map(|bytes| Binary::read(&bytes)) {
            None => vec![Finding::error(&place, format!("the code of {id} is not there"), fix)],
            Some(None) => vec![Finding::error(&place, "it is no program for Lambda", fix)],
            Some(Some(binary)) => binary.findings(&place, &architecture),
        }
    };
    template.of_type(FUNCTION).flat_map(check).collect()
}
