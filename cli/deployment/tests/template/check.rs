//! Runs the pre-deployment checks over this repository's own template and settings.

use std::collections::BTreeMap;

use deployment::check;
use deployment::finding::{Finding, Severity};
use deployment::quotas::mappings_at_once;
use deployment::settings::Settings;

use super::{given, template};

const SAMCONFIG: &str = include_str!("../../../../samconfig.toml");

fn errors(settings: &Settings) -> Vec<String> {
    let found = check::template(&template(), settings).unwrap();
    found.iter().filter(|found| found.severity == Severity::Error).map(Finding::to_string).collect()
}

#[test]
fn what_is_committed_for_aws_has_no_findings() {
    for environment in ["default", "production"] {
        let settings = Settings::read(SAMCONFIG, environment).unwrap();
        assert_eq!(check::template(&template(), &settings).unwrap(), [], "{environment}");
    }
    assert_ne!(errors(&Settings::read(SAMCONFIG, "local").unwrap()), [""; 0], "an emulator is no AWS");
}

#[test]
fn what_would_not_work_is_found() {
    let long = "l".repeat(52);
    let rows = [
        (Some("bad_name!"), None, ("Environment", "production"), "\"bad_name!\" is not allowed by CloudFormation"),
        (Some("1st"), None, ("Environment", "production"), "not a digit or hyphen first"),
        (Some(long.as_str()), None, ("Environment", "production"), "too long"),
        (None, Some("cn-north-1"), ("Environment", "production"), "sign-in page"),
        (None, None, ("Environment", "smal"), "Environment: \"smal\" is not allowed; one of production, small, local"),
        (None, None, ("Enviroment", "small"), "no such parameter"),
        (None, None, ("ScheduleState", "DISABLED"), "jobs whose messages are lost hang"),
        (None, None, ("RecordsWarmWriteUnits", "3999"), "4,000 write units a second in any case"),
    ];
    for (stack, region, parameter, what) in rows {
        let [stack, region] = [stack, region].map(|text| text.map(str::to_owned));
        let settings = Settings { stack, region, parameters: given(&[parameter]), ..Settings::default() };
        let found = errors(&settings);
        assert!(found.len() == 1 && found[0].contains(what), "{what}: {found:?}");
    }
}

#[test]
fn a_stack_without_a_name_is_a_warning() {
    let found = check::template(&template(), &Settings::default()).unwrap();
    assert!(found.len() == 1 && found[0].severity == Severity::Warning, "{found:?}");
    assert_eq!(found[0].what, "samconfig.toml has no stack_name for this environment");
}

#[test]
fn the_mappings_leave_room_in_the_quota_that_each_environment_is_for() {
    let at_once = |environment| mappings_at_once(&template(), &given(&[("Environment", environment)])).unwrap();
    let sums: BTreeMap<_, _> = ["production", "small"].map(|environment| (environment, at_once(environment))).into();
    assert!(sums["production"] <= 500, "half of the 1,000 executions that an account usually has: {sums:?}");
    assert!(sums["small"] <= 10, "the executions of a new account: {sums:?}");
}

/// KMS bills each call to a customer-managed key. DynamoDB's own key costs nothing and encrypts as well.
#[test]
fn tables_are_encrypted_by_a_key_without_charge() {
    let template = template();
    let tables: Vec<_> = template.of_type("AWS::DynamoDB::Table").collect();
    assert_eq!(tables.len(), 2);
    assert!(tables.iter().all(|(_, table)| table.get("SSESpecification").is_none()), "{tables:?}");
}

/// A failed first deployment must not leave an orphaned bucket or table.
#[test]
fn what_is_kept_is_not_kept_by_a_first_deployment_that_fails() {
    let template = template();
    let kept: Vec<_> = template
        .section("Resources")
        .filter(|(_, resource)| resource["DeletionPolicy"] == "Retain")
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(kept, ["UserPool"], "a protected pool cannot be deleted by a roll-back");
}

#[test]
fn binaries_that_are_not_there_are_found() {
    let found = check::binaries(&template(), &Settings::default(), |_| "/nowhere".into());
    assert_eq!(found.len(), 8, "{found:?}");
    assert!(found.iter().all(|found| found.severity == Severity::Error && found.what.ends_with("is not there")));
}

#[test]
fn binaries_are_not_checked_for_a_machine_that_is_not_there() {
    let settings = Settings { parameters: given(&[("Architecture", "arm")]), ..Settings::default() };
    assert_eq!(check::binaries(&template(), &settings, |_| "/nowhere".into()), []);
}

/// The embedded text that describes a binary's build settings.
#[test]
fn binaries_say_what_the_check_looks_for() {
    let telemetry = include_str!("../../../../shared/src/telemetry.rs");
    for settings in ["panic=unwind; profile=release;", "panic=unwind; profile=debug;"] {
        assert!(telemetry.contains(&format!("\"longshore build: {settings}\"")), "{settings}");
    }
}
