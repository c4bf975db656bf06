//! Parameters that CloudFormation refuses for this repository's template.

use deployment::check;
use deployment::finding::Severity;
use deployment::overrides;
use deployment::settings::{Settings, Source};
use deployment::template::Parameters;

use super::{template, values};

/// Returns the errors for these command-line parameters, as an update of a deployed stack.
fn errors(parameters: &str, deployed: Parameters) -> Vec<String> {
    let parameters = overrides::parse([parameters]).unwrap();
    let settings = Settings {
        stack: Some("longshore".to_owned()),
        region: None,
        parameters,
        source: Source::CommandLine,
        deployed,
    };
    let findings = check::template(&template(), &settings).unwrap();
    let errors = findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|error| format!("{}: {}", error.location, error.problem)).collect()
}

#[test]
fn every_kind_of_constraint_is_checked() {
    let found = errors(
        "Access=oidc MaxActiveJobs=0 RetentionDays=99999 MaxReceiveCount=abc AlarmTopicArn=foo WorkerTimeoutSeconds=301",
        Parameters::new(),
    );
    let expected = [
        "--parameter-overrides: AlarmTopicArn: \"foo\" is not allowed; it must match ^(arn:[^,]+)?$",
        "--parameter-overrides: RetentionDays: \"99999\" is not allowed; use 1 to 3650",
        "--parameter-overrides: MaxActiveJobs: \"0\" is not allowed; use 1 to 1000",
        "--parameter-overrides: MaxReceiveCount: \"abc\" is not a number",
        "rule OidcNeedsAnIssuer: Access=oidc needs OidcIssuer, the iss of the tokens",
        "rule OidcNeedsAnIssuer: Access=oidc needs OidcAudience, or tokens for other services would be accepted",
        "--parameter-overrides: WorkerTimeoutSeconds: \"301\" is not allowed; use one of 2, 5, 15, 60, 120, 300, 900",
    ];
    for line in expected {
        assert!(found.iter().any(|error| error == line), "{line}: {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn read_only_operators_are_not_the_operators() {
    let found = errors("OperatorGroup=staff ReadOnlyOperatorGroup=staff", Parameters::new());
    assert!(found.len() == 1 && found[0].starts_with("rule ReadOnlyOperatorsAreOthers"), "{found:?}");
    assert_eq!(errors("OperatorGroup=staff ReadOnlyOperatorGroup=auditors", Parameters::new()), [""; 0]);
}

#[test]
fn an_unknown_environment_causes_no_further_errors() {
    let expected = "--parameter-overrides: Environment: \"smal\" is not allowed; use one of production, small, local";
    assert_eq!(errors("Environment=smal", Parameters::new()), [expected]);
}

#[test]
fn a_rule_is_evaluated_with_the_values_that_the_stack_keeps() {
    let issuer = ("OidcIssuer", "https://one.example");
    let oidc = || values(&[("Access", "oidc"), issuer, ("OidcAudience", "longshore")]);
    assert_eq!(errors("Environment=small", oidc()), [""; 0]);
    let open = errors("Access=open", oidc());
    assert!(open.len() == 1 && open[0].starts_with("rule AnIssuerNeedsOidc"), "{open:?}");
}

#[test]
fn the_fix_of_a_rule_names_each_value_and_its_source() {
    let parameters = values(&[("OidcIssuer", "https://one.example")]);
    let settings = Settings { stack: Some("longshore".to_owned()), parameters, ..Settings::default() };
    let findings = check::template(&template(), &settings).unwrap();
    let expected =
        "change Access (\"cognito\" in template.yaml) or OidcIssuer (\"https://one.example\" in samconfig.toml)";
    assert!(findings.len() == 1 && findings[0].fix == expected, "{findings:?}");
}

#[test]
fn an_issuer_without_oidc_is_refused() {
    let found = errors("OidcIssuer=https://one.example", Parameters::new());
    assert_eq!(found, ["rule AnIssuerNeedsOidc: OidcIssuer has an effect only with Access=oidc"]);
    let all = "Access=oidc OidcIssuer=https://one.example OidcAudience=longshore";
    assert_eq!(errors(all, Parameters::new()), [""; 0]);
}

#[test]
fn an_unknown_parameter_is_refused_unless_only_the_deployed_stack_has_it() {
    let old = || values(&[("WorkerVisibilitySeconds", "150")]);
    assert_eq!(errors("Environment=small", old()), [""; 0]);
    let found = errors("WorkerVisibilitySeconds=150", old());
    assert!(found.len() == 1 && found[0].contains("WorkerVisibilitySeconds"), "{found:?}");
}

/// A pattern or rule that only CloudFormation can check would cause a warning at every deployment.
#[test]
fn every_pattern_and_rule_of_the_template_can_be_checked() {
    let settings = Settings { stack: Some("longshore".to_owned()), ..Settings::default() };
    assert_eq!(check::template(&template(), &settings).unwrap(), []);
}
