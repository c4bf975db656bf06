//! Tables, and the bucket's rules for pages.

use deployment::finding::{Finding, counted};

use super::code::Code;
use crate::operators::doctor::facts::{CorsRule, Facts, Table};

/// Stands for the API's own origin in the parameter `AllowedOrigins`, at its begin.
const OWN: &str = "self";

/// Runs the checks.
pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    for table in &facts.tables {
        found.extend(status(facts, table));
        found.extend(expiry(facts, table));
        found.extend(backups(facts, table));
        found.extend(throttled(facts, table));
    }
    found.extend(facts.cors.as_deref().and_then(|rules| cors(facts, rules)));
    found.extend(ignored_origins(facts));
    found
}

fn status(facts: &Facts, table: &Table) -> Option<Finding> {
    let problem = match (table.status.as_str(), table.unusable_indexes.as_slice()) {
        ("ACTIVE" | "UPDATING", []) => return None,
        ("ACTIVE" | "UPDATING", indexes) => format!("these indexes cannot be queried: {}", indexes.join(", ")),
        (status, _) => format!("its status is {status}"),
    };
    let fix = facts.stack.aws(&format!("dynamodb describe-table --table-name {}", table.name));
    let finding = Finding::error(&table.name, problem, fix).with_code(Code::TableNotActive);
    Some(finding.with_consequence("jobs cannot be read, listed or swept"))
}

fn expiry(facts: &Facts, table: &Table) -> Option<Finding> {
    (table.expires == Some(false)).then(|| {
        let enable = "--time-to-live-specification Enabled=true,AttributeName=expiresAt";
        let fix = facts.stack.aws(&format!("dynamodb update-time-to-live --table-name {} {enable}", table.name));
        let finding = Finding::warning(&table.name, "its time to live is off", fix).with_code(Code::TtlDisabled);
        finding.with_consequence("expired jobs and records stay, and cost money")
    })
}

/// An emulator has no backups.
fn backups(facts: &Facts, table: &Table) -> Option<Finding> {
    (table.has_backups == Some(false) && !facts.stack.is_local()).then(|| {
        let enable = "--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true";
        let fix = facts.stack.aws(&format!("dynamodb update-continuous-backups --table-name {} {enable}", table.name));
        let finding = Finding::warning(&table.name, "its point-in-time recovery is off", fix);
        let finding = finding.with_code(Code::BackupsDisabled);
        finding.with_consequence("a mistake of an operator cannot be undone")
    })
}

/// Finds a table that refuses requests because there are too many of them for its capacity or for one of its
/// partitions.
fn throttled(facts: &Facts, table: &Table) -> Option<Finding> {
    let throttled = table.throttled.filter(|throttled| *throttled > 0)?;
    let number = counted(throttled, "throttle event");
    let problem = format!("{number} of the table and its indexes in the last minutes");
    let limits = facts.stack.aws(&format!("dynamodb describe-table --table-name {}", table.name));
    let fix = format!("wait; if it lasts, compare its limits: {limits}");
    let finding = Finding::warning(&table.name, problem, fix).with_code(Code::TableThrottled);
    Some(finding.with_consequence("the API answers 503 to some calls, and jobs take longer; nothing is lost"))
}

/// Finds origins whose pages cannot upload files.
fn cors(facts: &Facts, rules: &[CorsRule]) -> Option<Finding> {
    let permits = |origin: &str| {
        rules.iter().any(|rule| {
            rule.methods.iter().any(|method| method == "PUT")
                && rule.origins.iter().any(|permitted| permitted == "*" || permitted == origin)
        })
    };
    let missing: Vec<_> = origins(facts).into_iter().filter(|origin| !permits(origin)).collect();
    (!missing.is_empty()).then(|| {
        let problem = format!("it does not permit uploads of pages at {}", missing.join(", "));
        let fix = "set AllowedOrigins in samconfig.toml, and run: sam deploy";
        let finding = Finding::error("Bucket", problem, fix).with_code(Code::CorsMissing);
        finding.with_consequence("browsers refuse to send files, so that uploads in the page fail")
    })
}

/// Finds origins beside `self`, which the template does not use.
fn ignored_origins(facts: &Facts) -> Option<Finding> {
    let (first, others) = facts.stack.parameter("AllowedOrigins").split_once(',')?;
    (first.trim() == OWN).then(|| {
        let problem = format!("these origins after {OWN} have no effect: {}", others.trim());
        let fix = "name the API's own origin in place of self in samconfig.toml, and run: sam deploy";
        let finding = Finding::warning("AllowedOrigins", problem, fix).with_code(Code::OriginsIgnored);
        finding.with_consequence("only pages at the API's own origin can upload")
    })
}

/// Returns the origins that the parameters of the stack permit. As in the template, a list that begins with `self` has
/// only the API's own.
fn origins(facts: &Facts) -> Vec<String> {
    let list: Vec<_> = facts.stack.parameter("AllowedOrigins").split(',').map(str::trim).collect();
    match list.as_slice() {
        [""] => Vec::new(),
        [OWN, ..] => facts.stack.api_url.clone().into_iter().collect(),
        origins => origins.iter().map(|origin| (*origin).to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use deployment::finding::Severity;

    use super::super::tests::{codes, healthy};
    use super::*;

    #[test]
    fn a_table_must_be_active_expire_items_and_have_backups() {
        let with = |change: fn(&mut Table)| {
            let mut facts = healthy();
            change(&mut facts.tables[0]);
            check(&facts)
        };
        assert!(with(|table| table.status = "UPDATING".to_owned()).is_empty());
        assert_eq!(codes(&with(|table| table.status = "ARCHIVED".to_owned())), ["table_not_active"]);
        assert_eq!(codes(&with(|table| table.unusable_indexes.push("due".to_owned()))), ["table_not_active"]);
        assert_eq!(codes(&with(|table| table.expires = Some(false))), ["ttl_disabled"]);
        assert!(with(|table| table.expires = None).is_empty(), "not observed");
        assert_eq!(codes(&with(|table| table.throttled = Some(1))), ["table_throttled"]);
        assert_eq!(codes(&with(|table| table.has_backups = Some(false))), ["backups_disabled"]);
    }

    #[test]
    fn an_emulator_needs_no_backups() {
        let mut facts = healthy();
        facts.tables[0].has_backups = Some(false);
        facts.stack.parameters.insert("Environment".to_owned(), "local".to_owned());
        assert!(check(&facts).is_empty());
    }

    #[test]
    fn pages_of_every_permitted_origin_must_be_able_to_upload() {
        let with = |parameter: &str, origins: &[&str], method: &str| {
            let mut facts = healthy();
            facts.stack.parameters.insert("AllowedOrigins".to_owned(), parameter.to_owned());
            let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
            facts.cors = Some(vec![CorsRule { origins, methods: vec![method.to_owned()] }]);
            check(&facts).iter().filter(|finding| finding.severity == Severity::Error).count()
        };
        assert_eq!(with("self", &["https://api.example.com"], "PUT"), 0);
        assert_eq!(with("self", &["https://other.example.com"], "PUT"), 1);
        assert_eq!(with("self", &["*"], "PUT"), 0);
        assert_eq!(with("*", &["*"], "PUT"), 0);
        assert_eq!(with("self", &["*"], "GET"), 1);
        assert_eq!(with("https://a.example, https://b.example", &["https://a.example"], "PUT"), 1);
        assert_eq!(with("self, https://a.example", &["https://api.example.com"], "PUT"), 0);
        assert_eq!(with(" self ,https://a.example", &["https://a.example"], "PUT"), 1);
        assert_eq!(codes(&check(&Facts { cors: Some(Vec::new()), ..healthy() })), ["cors_missing"]);
    }

    #[test]
    fn origins_beside_self_have_no_effect() {
        for (origins, code) in
            [("self", None), ("https://a.example,self", None), ("self, https://a.example", Some("origins_ignored"))]
        {
            let mut facts = Facts { cors: None, ..healthy() };
            facts.stack.parameters.insert("AllowedOrigins".to_owned(), origins.to_owned());
            assert_eq!(codes(&check(&facts)), Vec::from_iter(code), "{origins}");
        }
    }
}
