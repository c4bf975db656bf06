//! All checks that need no AWS account: template, parameters, binaries. Also the result of all checks.

use std::fmt::{self, Display};
use std::path::PathBuf;

use anyhow::Result;

use crate::binary::Binary;
use crate::finding::{Finding, Severity, counted};
use crate::quotas::mapping_concurrency;
use crate::roles::{FUNCTION, Function, functions};
use crate::settings::Settings;
use crate::template::{Parameters, Template};
use crate::{code, parameters, rules};

/// Maximum length of a stack name. A function name has at most 64 characters, including a suffix such as
/// `-image-handler`.
const MAX_STACK_NAME: usize = 50;
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

/// Checks the binaries of all functions. `code_of` returns the folder or the package of a function by its `CodeUri`.
pub fn binaries(template: &Template, settings: &Settings, code_of: impl Fn(&str) -> PathBuf) -> Vec<Finding> {
    let values = settings.effective(template);
    // With an unknown architecture, every binary would be reported as wrong.
    if !parameters::is_accepted(template, &values, "Architecture") {
        return Vec::new();
    }
    let architecture = template.parameter("Architecture", &values).unwrap_or_default();
    let check = |(id, function): (&str, &serde_json::Value)| {
        let code = code_of(function["CodeUri"].as_str().unwrap_or_default());
        let file = code::file(&code);
        let location = file.display().to_string();
        let error = |problem: String| {
            let fix = "build it with cargo lambda build --release, or pass its folder with --functions";
            vec![Finding::error(&location, problem, fix)]
        };
        if !file.exists() {
            return error(format!("the binary of {id} does not exist"));
        }
        match code::binary(&code).map(|bytes| Binary::read(&bytes)) {
            Err(cause) => error(format!("{cause:#}")),
            Ok(None) => error("this is not a Linux program".to_owned()),
            Ok(Some(binary)) => {
                let system = binary.system_finding(&location, &architecture);
                binary.findings(&location, &architecture).into_iter().chain(system).collect()
            }
        }
    };
    template.of_type(FUNCTION).flat_map(check).collect()
}

/// A check that needs an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountCheck {
    /// The account's quota of concurrent executions.
    Quota,
    /// Data loss by an update of the deployed stack.
    DataLoss,
    /// Changes of indexes by an update of the deployed stack.
    Indexes,
}

impl Display for AccountCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quota => "the account's quotas",
            Self::DataLoss => "data loss by an update",
            Self::Indexes => "the indexes of tables",
        })
    }
}

/// A check that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCheck {
    /// The check.
    pub check: AccountCheck,
    /// The reason of a failed query; `None` if nothing was queried (`--offline`).
    pub reason: Option<String>,
}

impl Display for SkippedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NOT CHECKED: {}: {}", self.check, self.reason.as_deref().unwrap_or("--offline"))
    }
}

/// Number of findings. A check that was skipped because a query failed counts as a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    errors: usize,
    warnings: usize,
    skipped: Vec<AccountCheck>,
}

impl Verdict {
    /// Counts the findings and the skipped checks.
    pub fn new(findings: &[Finding], skipped: &[SkippedCheck]) -> Self {
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let failed = skipped.iter().filter(|skipped| skipped.reason.is_some()).count();
        let warnings = findings.len() - errors + failed;
        Self { errors, warnings, skipped: skipped.iter().map(|skipped| skipped.check).collect() }
    }

    /// Returns true if there is no error.
    pub fn is_ready(&self) -> bool {
        self.errors == 0
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped: Vec<_> = self.skipped.iter().map(ToString::to_string).collect();
        match (self.is_ready(), skipped.is_empty()) {
            (false, _) => write!(f, "not ready to deploy: ")?,
            (true, true) => write!(f, "Ready to deploy: ")?,
            (true, false) => write!(f, "Ready to deploy, as far as checked: ")?,
        }
        write!(f, "{}, {}", counted(self.errors as u64, "error"), counted(self.warnings as u64, "warning"))?;
        if !skipped.is_empty() {
            write!(f, "; not checked: {}", enumerated(&skipped))?;
        }
        Ok(())
    }
}

/// Joins names as in a sentence.
fn enumerated(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_checks_are_listed_in_the_verdict() {
        let error = || Finding::error("location", "problem", "fix");
        let warning = || Finding::warning("location", "problem", "fix");
        let all = |reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            [AccountCheck::Quota, AccountCheck::DataLoss, AccountCheck::Indexes]
                .map(|check| SkippedCheck { check, reason: reason.clone() })
                .to_vec()
        };
        let list = "not checked: the account's quotas, data loss by an update and the indexes of tables";
        let rows = [
            (vec![], vec![], "Ready to deploy: no errors, no warnings".to_owned()),
            (vec![warning()], vec![], "Ready to deploy: no errors, 1 warning".to_owned()),
            (vec![], all(None), format!("Ready to deploy, as far as checked: no errors, no warnings; {list}")),
            (
                vec![warning()],
                all(Some("no credentials")),
                format!("Ready to deploy, as far as checked: no errors, 4 warnings; {list}"),
            ),
            (vec![error(), error()], all(None), format!("not ready to deploy: 2 errors, no warnings; {list}")),
        ];
        for (findings, skipped, expected) in rows {
            let verdict = Verdict::new(&findings, &skipped);
            assert_eq!(verdict.to_string(), expected);
            assert_eq!(verdict.is_ready(), expected.starts_with("Ready"), "{expected}");
        }
    }

    #[test]
    fn names_are_joined_as_in_a_sentence() {
        for (names, expected) in
            [(vec![], ""), (vec!["a"], "a"), (vec!["a", "b"], "a and b"), (vec!["a", "b", "c"], "a, b and c")]
        {
            assert_eq!(enumerated(&names.iter().map(ToString::to_string).collect::<Vec<_>>()), expected);
        }
    }
}
