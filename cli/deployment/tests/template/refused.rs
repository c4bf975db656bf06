//! Parameters that CloudFormation refuses for this repository's template.

use deployment::check;
use deployment::finding::Severity;
use deployment::overrides;
use deployment::settings::{Settings, Source};
use deployment::template::Parameters;

use super::{given, template};

/// Returns the errors for these command-line parameters, over a running stack.
fn errors(parameters: &str, running: Parameters) -> Vec<String> {
    let parameters = overrides::parse([parameters]).unwrap();
    let settings = Settings {
        stack: Some("longshore".to_owned()),
        region: None,
        parameters,
        source: Source::CommandLine,
        running,
    };
    let found = check::template(&template(), &settings).unwrap();
    let errors = found.into_iter().filter(|found| found.severity == Severity::Error);
    errors.map(|found| format!("{}: {}", found.place, found.what)).collect()
}

#[test]
fn every_constraint_of_the_template_is_checked() {
    let found = errors(
        "Access=oidc MaxActiveJobs=0 RetentionDays=99999 MaxReceiveCount=abc AlarmTopicArn=foo WorkerTimeoutSeconds=301",
        Parameters::new(),
    );
    let expected = [
        "--parameter-overrides: AlarmTopicArn: \"foo\" is not allowed; it must match ^(arn:[^,]+)?$",
        "--parameter-overrides: RetentionDays: \"99999\" is not allowed; from 1 to 3650",
        "--parameter-overrides: MaxActiveJobs: \"0\" is not allowed; from 1 to 1000",
        "--parameter-overrides: MaxReceiveCount: \"abc\" is not a number",
        "rule OidcNeedsAnIssuer: Access=oidc needs OidcIssuer, the iss of the tokens",
        "rule OidcNeedsAnIssuer: Access=oidc needs OidcAudience, or tokens meant for other services would be taken",
        "--parameter-overrides: WorkerTimeoutSeconds: \"301\" is not allowed; one of 2, 5, 15, 60, 120, 300, 900",
    ];
    for line in expected {
        assert!(found.iter().any(|found| found == line), "{line}: {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn an_environment_that_is_not_there_is_the_only_error() {
    let expected = "--parameter-overrides: Environment: \"smal\" is not allowed; one of production, small, local";
    assert_eq!(errors("Environment=smal", Parameters::new()), [expected]);
}

#[test]
fn a_rule_is_evaluated_with_the_values_that_the_running_stack_keeps() {
    let issuer = ("OidcIssuer", "https://one.example");
    let oidc = || given(&[("Access", "oidc"), issuer, ("OidcAudience", "longshore")]);
    assert_eq!(errors("Environment=small", oidc()), [""; 0]);
    let open = errors("Access=open", oidc());
    assert!(open.len() == 1 && open[0].starts_with("rule AnIssuerNeedsOidc"), "{open:?}");
}

#[test]
fn the_advice_of_a_rule_names_each_value_and_its_place() {
    let parameters = given(&[("OidcIssuer", "https://one.example")]);
    let settings = Settings { stack: Some("longshore".to_owned()), parameters, ..Settings::default() };
    let found = check::template(&template(), &settings).unwrap();
    let advice =
        "change Access (\"cognito\" in template.yaml) or OidcIssuer (\"https://one.example\" in samconfig.toml)";
    assert!(found.len() == 1 && found[0].fix == advice, "{found:?}");
}

#[test]
fn an_issuer_is_refused_without_oidc() {
    let found = errors("OidcIssuer=https://one.example", Parameters::new());
    assert_eq!(found, ["rule AnIssuerNeedsOidc: OidcIssuer is only heeded with Access=oidc"]);
    let all = "Access=oidc OidcIssuer=https://one.example OidcAudience=longshore";
    assert_eq!(errors(all, Parameters::new()), [""; 0]);
}

#[test]
fn a_parameter_that_the_template_no_longer_has_is_refused_unless_only_the_running_stack_has_it() {
    let old = || given(&[("WorkerVisibilitySeconds", "150")]);
    assert_eq!(errors("Environment=small", old()), [""; 0]);
    let found = errors("WorkerVisibilitySeconds=150", old());
    assert!(found.len() == 1 && found[0].contains("WorkerVisibilitySeconds"), "{found:?}");
}

/// Otherwise every deployment would get a warning.
#[test]
fn every_pattern_and_every_rule_of_the_template_can_be_checked() {
    let settings = Settings { stack: Some("longshore".to_owned()), ..Settings::default() };
    assert_eq!(check::template(&template(), &settings).unwrap(), []);
}
