//! Runs the pre-deployment checks over this repository's own template, settings and release profile.

use std::collections::BTreeMap;

use deployment::check;
use deployment::finding::{Finding, Severity};
use deployment::quotas::mapping_concurrency;
use deployment::settings::Settings;

use super::{template, values};

const SAMCONFIG: &str = include_str!("../../../../samconfig.toml");
const MANIFEST: &str = include_str!("../../../../Cargo.toml");

fn errors(settings: &Settings) -> Vec<String> {
    let findings = check::template(&template(), settings).unwrap();
    findings.iter().filter(|finding| finding.severity == Severity::Error).map(Finding::to_string).collect()
}

#[test]
fn the_committed_settings_for_aws_have_no_findings() {
    for environment in ["default", "production"] {
        let settings = Settings::read(SAMCONFIG, environment).unwrap();
        assert_eq!(check::template(&template(), &settings).unwrap(), [], "{environment}");
    }
    let local = Settings::read(SAMCONFIG, "local").unwrap();
    assert_ne!(errors(&local), [""; 0], "the settings for the emulator do not work on AWS");
}

#[test]
fn settings_that_would_not_work_are_errors() {
    let long = "l".repeat(51);
    let rows = [
        (Some("bad_name!"), None, ("Environment", "production"), "\"bad_name!\" is not allowed by CloudFormation"),
        (Some("1st"), None, ("Environment", "production"), "the first character must not be a digit or hyphen"),
        (Some(long.as_str()), None, ("Environment", "production"), "too long"),
        (None, Some("cn-north-1"), ("Environment", "production"), "sign-in page"),
        (
            None,
            None,
            ("Environment", "smal"),
            "Environment: \"smal\" is not allowed; use one of production, small, local",
        ),
        (None, None, ("Enviroment", "small"), "no such parameter"),
        (None, None, ("ScheduleState", "DISABLED"), "a job whose message is lost never ends"),
        (None, None, ("RecordsWarmWriteUnits", "3999"), "always accepts 4,000 write units per second"),
    ];
    for (stack, region, parameter, expected) in rows {
        let [stack, region] = [stack, region].map(|text| text.map(str::to_owned));
        let settings = Settings { stack, region, parameters: values(&[parameter]), ..Settings::default() };
        let errors = errors(&settings);
        assert!(errors.len() == 1 && errors[0].contains(expected), "{expected}: {errors:?}");
    }
}

#[test]
fn a_stack_without_a_name_is_a_warning() {
    let findings = check::template(&template(), &Settings::default()).unwrap();
    assert!(findings.len() == 1 && findings[0].severity == Severity::Warning, "{findings:?}");
    assert_eq!(findings[0].problem, "samconfig.toml has no stack_name for this environment");
}

#[test]
fn the_queues_of_each_environment_leave_a_reserve_in_its_quota() {
    let concurrency = |environment| mapping_concurrency(&template(), &values(&[("Environment", environment)])).unwrap();
    let sums: BTreeMap<_, _> =
        ["production", "small"].map(|environment| (environment, concurrency(environment))).into();
    assert!(sums["production"] <= 500, "half of the usual quota of 1,000: {sums:?}");
    assert!(sums["small"] <= 14, "the quota of a new account, and four for webhooks and files to prepare: {sums:?}");
    let handlers = values(&[("Environment", "small"), ("HandlerHosts", "handlers.example.com")]);
    assert_eq!(mapping_concurrency(&template(), &handlers).unwrap(), sums["small"] + 2);
}

/// KMS charges for each use of a customer-managed key. DynamoDB's own key is free.
#[test]
fn tables_are_encrypted_with_a_free_key() {
    let template = template();
    let tables: Vec<_> = template.of_type("AWS::DynamoDB::Table").collect();
    assert_eq!(tables.len(), 3);
    assert!(tables.iter().all(|(_, table)| table.get("SSESpecification").is_none()), "{tables:?}");
}

/// A failed first deployment must not leave an orphaned bucket or table.
#[test]
fn a_failed_first_deployment_keeps_no_bucket_or_table() {
    let template = template();
    let kept: Vec<_> = template
        .section("Resources")
        .filter(|(_, resource)| resource["DeletionPolicy"] == "Retain")
        .map(|(name, _)| name.to_owned())
        .collect();
    // A rollback cannot delete a protected pool. It creates no second secret of a name, because the secret has none.
    assert_eq!(kept, ["RootSecret", "UserPool"]);
}

#[test]
fn missing_binaries_are_errors() {
    let findings = check::binaries(&template(), &Settings::default(), |_| "/nowhere".into());
    assert_eq!(findings.len(), 13, "{findings:?}");
    let is_missing = |finding: &Finding| finding.problem.ends_with("does not exist");
    assert!(findings.iter().all(|finding| finding.severity == Severity::Error && is_missing(finding)));
}

#[test]
fn binaries_are_not_checked_for_an_unknown_architecture() {
    let settings = Settings { parameters: values(&[("Architecture", "arm")]), ..Settings::default() };
    assert_eq!(check::binaries(&template(), &settings, |_| "/nowhere".into()), []);
}

/// `longshore::telemetry` embeds the build settings in each binary.
#[test]
fn binaries_contain_the_build_settings_that_the_check_reads() {
    let telemetry = include_str!("../../../../shared/src/telemetry.rs");
    for settings in ["panic=unwind; profile=release;", "panic=unwind; profile=debug;"] {
        assert!(telemetry.contains(&format!("\"longshore build: {settings}\"")), "{settings}");
    }
}

/// cargo-lambda compiles `--release` with `panic = "abort"` unless the profile names a strategy. With `abort`, one
/// panicking row would fail its whole chunk.
#[test]
fn panics_unwind_in_a_release() {
    let manifest: toml::Table = MANIFEST.parse().unwrap();
    assert_eq!(manifest["profile"]["release"].get("panic").and_then(toml::Value::as_str), Some("unwind"));
}
