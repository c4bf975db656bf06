//! Changes of parameters of a stack that is there: those that lose something without a word.

use crate::finding::Finding;
use crate::template::{Parameters, Template};

/// Parameters whose change loses something, what that is, and what to do.
const LOSING: [(&str, &str, &str); 4] = [
    (
        "Access",
        "another tenant for every user: jobs, datasets and records of before are not found any more; back to cognito is a new, \
         empty pool",
        "keep the value, or make another stack",
    ),
    (
        "TenantClaim",
        "another tenant for every user: jobs, datasets and records of before are not found any more",
        "keep the value, or make another stack",
    ),
    (
        "OperatorGroup",
        "a new, empty group: nobody is an operator until users are put into it",
        "afterwards, put the operators into the new group (aws cognito-idp admin-add-user-to-group)",
    ),
    (
        "SignInDomain",
        "another address of the sign-in page: links to the old one end, and anybody may take its name",
        "tell the users, or keep the value",
    ),
];

/// What an update from `before` to `after` loses.
pub fn findings(template: &Template, before: &Parameters, after: &Parameters) -> Vec<Finding> {
    let changed = LOSING.iter().filter_map(|(name, what, fix)| {
        let (old, new) = (template.parameter(name, before)?, template.parameter(name, after)?);
        // What an older template did not have loses nothing.
        let is_change = before.contains_key(*name) && old != new;
        is_change.then(|| Finding::error(*name, format!("from {old:?} to {new:?} means {what}"), *fix))
    });
    changed.collect()
}
