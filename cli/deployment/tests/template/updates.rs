//! Updates of a running stack that lose data.

use deployment::settings::Settings;
use deployment::updates;

use super::{given, template};

/// Returns the parameters that have findings when one parameter changes on a fully configured stack.
fn lost(name: &str, old: &str, new: &str) -> Vec<String> {
    let mut running = given(&[
        ("Access", "cognito"),
        ("OidcIssuer", ""),
        ("OperatorClaim", "cognito:groups"),
        ("OperatorGroup", "operators"),
        ("RetentionDays", "14"),
        ("SignInDomain", "one"),
        ("TenantClaim", "sub"),
    ]);
    running.insert(name.to_owned(), old.to_owned());
    let settings = Settings { parameters: given(&[(name, new)]), running, ..Settings::default() };
    updates::findings(&template(), &settings).into_iter().map(|finding| finding.place).collect()
}

#[test]
fn an_update_that_loses_something_is_found() {
    let rows = [
        ("Access", "cognito", "open"),
        ("TenantClaim", "sub", "custom:tenant"),
        ("OidcIssuer", "https://one.example", "https://two.example"),
        ("OperatorClaim", "cognito:groups", "roles"),
        ("OperatorGroup", "operators", "ops"),
        ("SignInDomain", "one", "two"),
        ("RetentionDays", "14", "7"),
        ("RetentionDays", "100", "20"),
    ];
    for (name, old, new) in rows {
        assert_eq!(lost(name, old, new), [name], "from {old} to {new}");
        assert_eq!(lost(name, old, old), [""; 0], "{name} as before");
    }
}

#[test]
fn an_update_that_keeps_everything_has_no_findings() {
    for (name, old, new) in
        [("RetentionDays", "14", "100"), ("LogRetentionDays", "30", "7"), ("OidcIssuer", "", "https://one.example")]
    {
        assert_eq!(lost(name, old, new), [""; 0], "{name} from {old} to {new}");
    }
}

#[test]
fn a_first_deployment_and_a_parameter_that_is_new_lose_nothing() {
    let settings = Settings { parameters: given(&[("RetentionDays", "1")]), ..Settings::default() };
    assert_eq!(updates::findings(&template(), &settings), []);
}
