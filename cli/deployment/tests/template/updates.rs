//! Updates of a deployed stack that lose data.

use deployment::settings::Settings;
use deployment::updates;

use super::{template, values};

/// Changes one parameter of a fully configured stack. Returns the parameters that have findings.
fn lossy_parameters(name: &str, old: &str, new: &str) -> Vec<String> {
    let mut deployed = values(&[
        ("Access", "cognito"),
        ("OidcIssuer", ""),
        ("OperatorClaim", "cognito:groups"),
        ("OperatorGroup", "operators"),
        ("ReadOnlyOperatorGroup", ""),
        ("RetentionDays", "14"),
        ("SignInDomain", "one"),
        ("TenantClaim", "sub"),
    ]);
    deployed.insert(name.to_owned(), old.to_owned());
    let settings = Settings { parameters: values(&[(name, new)]), deployed, ..Settings::default() };
    updates::findings(&template(), &settings).into_iter().map(|finding| finding.location).collect()
}

#[test]
fn an_update_that_loses_data_is_an_error() {
    let rows = [
        ("Access", "cognito", "open"),
        ("TenantClaim", "sub", "custom:tenant"),
        ("OidcIssuer", "https://one.example", "https://two.example"),
        ("OperatorClaim", "cognito:groups", "roles"),
        ("OperatorGroup", "operators", "ops"),
        ("ReadOnlyOperatorGroup", "auditors", "readers"),
        ("ReadOnlyOperatorGroup", "auditors", ""),
        ("SignInDomain", "one", "two"),
        ("RetentionDays", "14", "7"),
        ("RetentionDays", "100", "20"),
    ];
    for (name, old, new) in rows {
        assert_eq!(lossy_parameters(name, old, new), [name], "from {old} to {new}");
        assert_eq!(lossy_parameters(name, old, old), [""; 0], "{name} unchanged");
    }
}

#[test]
fn an_update_that_keeps_everything_has_no_findings() {
    for (name, old, new) in [
        ("RetentionDays", "14", "100"),
        ("LogRetentionDays", "30", "7"),
        ("OidcIssuer", "", "https://one.example"),
        ("ReadOnlyOperatorGroup", "", "auditors"),
    ] {
        assert_eq!(lossy_parameters(name, old, new), [""; 0], "{name} from {old} to {new}");
    }
}

#[test]
fn a_first_deployment_or_a_new_parameter_loses_no_data() {
    let settings = Settings { parameters: values(&[("RetentionDays", "1")]), ..Settings::default() };
    assert_eq!(updates::findings(&template(), &settings), []);
}
