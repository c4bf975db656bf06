//! Each role permits what its function's code calls.

use std::collections::BTreeSet;

use deployment::roles::{Function, functions};
use deployment::template::Template;

use super::port_calls::{CALLS, Need};
use super::{TEMPLATE, reach};

/// Files that declare ports.
const PORTS: [&str; 10] = [
    "shared/domain/src/ports/jobs.rs",
    "shared/domain/src/ports/transitions.rs",
    "shared/domain/src/ports/ledger.rs",
    "shared/domain/src/ports/queues.rs",
    "shared/domain/src/ports/files.rs",
    "shared/domain/src/ports/dead_letters.rs",
    "shared/domain/src/ports/concurrency.rs",
    "shared/domain/src/ports/sweeps.rs",
    "shared/domain/src/ports/records.rs",
    "shared/domain/src/ports/uploads.rs",
];

/// Methods without a row: those of values that a port returns, which the row of the port's own method covers, and
/// `hide`, which every queue function calls on the queue that triggered it; the flow tests show that permission.
const WITHOUT_ROW: [&str; 3] = ["next", "finish", "hide"];

fn permits(function: &Function, (action, resource, key): Need) -> bool {
    let anywhere = resource.strip_suffix("/*");
    function.allowed.iter().any(|allowed| match anywhere {
        Some(bucket) => {
            allowed.actions.contains(action) && allowed.resources.iter().any(|of| of.starts_with(&format!("{bucket}/")))
        }
        None => allowed.covers(action, resource, key),
    })
}

/// Lists the calls of functions that their roles do not permit.
fn refused(template: &str) -> Vec<String> {
    let functions = functions(&Template::parse(template).unwrap()).unwrap();
    let mut refused = Vec::new();
    for function in functions.values() {
        for (receivers, method, needs) in CALLS {
            if reach::calls(&function.name, receivers, method) {
                let missing = needs.iter().filter(|need| !permits(function, **need));
                refused
                    .extend(missing.map(|(action, on, _)| format!("{}: {method} needs {action} on {on}", function.id)));
            }
        }
    }
    refused
}

#[test]
fn every_call_that_a_function_can_make_is_permitted_by_its_role() {
    assert_eq!(refused(TEMPLATE), [""; 0]);
}

#[test]
fn a_permission_that_is_taken_away_is_missed() {
    let rows = [
        (
            "'dynamodb:LeadingKeys': ['UPLOAD#*']",
            "'dynamodb:LeadingKeys': ['OTHER#*']",
            "DeadLetters: reopen needs dynamodb:PutItem",
        ),
        ("'dynamodb:LeadingKeys': ['GATE#*']", "'dynamodb:LeadingKeys': ['OTHER#*']", "ProcessItem: forget needs"),
        (
            "Action: [dynamodb:PartiQLInsert, dynamodb:PartiQLUpdate]",
            "Action: dynamodb:PartiQLUpdate",
            "ProcessItem: put needs",
        ),
        (
            "Action: [s3:PutObject, s3:AbortMultipartUpload]",
            "Action: s3:PutObject",
            "CompleteJob: abort_multipart needs",
        ),
    ];
    for (from, to, missed) in rows {
        assert!(TEMPLATE.contains(from), "{from}");
        let found = refused(&TEMPLATE.replace(from, to));
        assert!(found.iter().any(|found| found.contains(missed)), "{missed}: {found:?}");
    }
}

#[test]
fn every_method_of_a_port_has_a_row() {
    let rows: BTreeSet<_> = CALLS.iter().map(|(_, method, _)| (*method).to_owned()).collect();
    let methods: BTreeSet<_> = PORTS.iter().flat_map(|path| reach::methods(path)).collect();
    let missing: Vec<_> = methods.difference(&rows).filter(|method| !WITHOUT_ROW.contains(&method.as_str())).collect();
    assert_eq!(missing, [""; 0]);
    assert!(methods.len() > 50, "{methods:?}");
}
