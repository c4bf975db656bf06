//! Parameter changes that lose data of a deployed stack. CloudFormation applies them without a warning.

use crate::finding::Finding;
use crate::settings::Settings;
use crate::template::Template;

/// A parameter whose change loses data.
struct Loss {
    name: &'static str,
    change: Change,
    consequence: &'static str,
    fix: &'static str,
}

/// A change that loses data.
#[derive(Clone, Copy)]
enum Change {
    /// Any change.
    Any,
    /// A change from a non-empty value to another non-empty value.
    Replaced,
    /// A change of a non-empty value, also to an empty one.
    ReplacedOrCleared,
    /// A change to a lower number.
    Lowered,
}

const OTHER_TENANTS: &str = "every user gets another tenant and no longer finds existing jobs, datasets and records";
const KEEP: &str = "keep the value, or create another stack";

const LOSSES: [Loss; 8] = [
    Loss {
        name: "Access",
        change: Change::Any,
        consequence: "every user gets another tenant and no longer finds existing jobs, datasets and records; a later \
                      change back to cognito creates a new, empty user pool",
        fix: KEEP,
    },
    Loss { name: "TenantClaim", change: Change::Any, consequence: OTHER_TENANTS, fix: KEEP },
    // Adding or removing the issuer also changes Access.
    Loss { name: "OidcIssuer", change: Change::Replaced, consequence: OTHER_TENANTS, fix: KEEP },
    Loss {
        name: "OperatorClaim",
        change: Change::Any,
        consequence: "only users who have OperatorGroup in the new claim are operators",
        fix: "keep the value, or add the new claim to the operators' tokens first",
    },
    Loss {
        name: "OperatorGroup",
        change: Change::Any,
        consequence: "the new group is empty: there is no operator until users are added to it",
        fix: "afterwards, add the operators to the new group (aws cognito-idp admin-add-user-to-group)",
    },
    Loss {
        name: "ReadOnlyOperatorGroup",
        change: Change::ReplacedOrCleared,
        consequence: "the group is deleted with its memberships: there is no read-only operator until users are added \
                      to another group",
        fix: "keep the value, or afterwards add the read-only operators to the new group (aws cognito-idp \
              admin-add-user-to-group)",
    },
    Loss {
        name: "SignInDomain",
        change: Change::Any,
        consequence: "the URL of the sign-in page changes: the old URL stops working, and others can take its domain",
        fix: "inform the users, or keep the value",
    },
    Loss {
        name: "RetentionDays",
        change: Change::Lowered,
        consequence: "the bucket deletes older uploads, reports and receipts, even those of jobs that are still listed",
        fix: "keep the value, or save the reports first",
    },
];

/// Lists the data losses that an update of the deployed stack causes.
pub fn findings(template: &Template, settings: &Settings) -> Vec<Finding> {
    let after = settings.effective(template);
    let findings = LOSSES.iter().filter_map(|loss| {
        // A parameter that the deployed template does not have loses nothing.
        let (old, new) = (settings.deployed.get(loss.name)?, template.parameter(loss.name, &after)?);
        let problem = format!("the value changes from {old:?} to {new:?}: {}", loss.consequence);
        loss.change.matches(old, &new).then(|| Finding::error(loss.name, problem, loss.fix))
    });
    findings.collect()
}

impl Change {
    fn matches(self, old: &str, new: &str) -> bool {
        match self {
            Self::Any => old != new,
            Self::Replaced => old != new && !old.is_empty() && !new.is_empty(),
            Self::ReplacedOrCleared => old != new && !old.is_empty(),
            Self::Lowered => match (old.parse::<f64>(), new.parse::<f64>()) {
                (Ok(old), Ok(new)) => new < old,
                _ => false,
            },
        }
    }
}
