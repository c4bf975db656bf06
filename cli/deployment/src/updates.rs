//! Parameter changes that lose data of a running stack. CloudFormation applies them without a warning.

use crate::finding::Finding;
use crate::settings::Settings;
use crate::template::Template;

/// A parameter whose change loses data.
struct Loss {
    name: &'static str,
    when: When,
    what: &'static str,
    fix: &'static str,
}

/// The kind of change that loses data.
#[derive(Clone, Copy)]
enum When {
    Changed,
    /// Changed from a non-empty value to another non-empty value.
    Replaced,
    Lowered,
}

const OTHER_TENANTS: &str =
    "another tenant for every user: jobs, datasets and records of before are not found any more";
const KEEP: &str = "keep the value, or make another stack";

const LOSSES: [Loss; 7] = [
    Loss {
        name: "Access",
        when: When::Changed,
        what: "another tenant for every user: jobs, datasets and records of before are not found any more; back to cognito \
               is a new, empty pool",
        fix: KEEP,
    },
    Loss { name: "TenantClaim", when: When::Changed, what: OTHER_TENANTS, fix: KEEP },
    // A change between an issuer and none also changes Access.
    Loss { name: "OidcIssuer", when: When::Replaced, what: OTHER_TENANTS, fix: KEEP },
    Loss {
        name: "OperatorClaim",
        when: When::Changed,
        what: "other operators: whoever has OperatorGroup in the new claim, and nobody by the old one",
        fix: "keep the value, or give the operators the new claim first",
    },
    Loss {
        name: "OperatorGroup",
        when: When::Changed,
        what: "a new, empty group: nobody is an operator until users are put into it",
        fix: "afterwards, put the operators into the new group (aws cognito-idp admin-add-user-to-group)",
    },
    Loss {
        name: "SignInDomain",
        when: When::Changed,
        what: "another address of the sign-in page: links to the old one end, and anybody may take its name",
        fix: "tell the users, or keep the value",
    },
    Loss {
        name: "RetentionDays",
        when: When::Lowered,
        what: "the bucket's lifecycle deletes older uploads, reports and receipts, also those of jobs that are still listed",
        fix: "keep the value, or save the reports first",
    },
];

/// Lists the losses that an update of the running stack causes.
pub fn findings(template: &Template, settings: &Settings) -> Vec<Finding> {
    let after = settings.effective(template);
    let lost = LOSSES.iter().filter_map(|loss| {
        // A parameter that the running template did not have loses nothing.
        let (old, new) = (settings.running.get(loss.name)?, template.parameter(loss.name, &after)?);
        let what = format!("from {old:?} to {new:?} means {}", loss.what);
        loss.when.is_satisfied(old, &new).then(|| Finding::error(loss.name, what, loss.fix))
    });
    lost.collect()
}

impl When {
    fn is_satisfied(self, old: &str, new: &str) -> bool {
        match self {
            Self::Changed => old != new,
            Self::Replaced => old != new && !old.is_empty() && !new.is_empty(),
            Self::Lowered => match (old.parse::<f64>(), new.parse::<f64>()) {
                (Ok(old), Ok(new)) => new < old,
                _ => false,
            },
        }
    }
}
