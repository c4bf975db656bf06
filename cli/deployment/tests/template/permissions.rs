//! Each role permits the calls of its function's code.

use std::collections::BTreeSet;

use deployment::roles::{Function, functions};
use deployment::template::Template;

use super::port_calls::{CALLS, FIND_OF_DAY, Need, SEND_HANDLER};
use super::{TEMPLATE, reach};

/// Files that declare ports.
const PORTS: [&str; 21] = [
    "shared/domain/src/ports/jobs.rs",
    "shared/domain/src/ports/transitions.rs",
    "shared/domain/src/ports/ledger.rs",
    "shared/domain/src/ports/queues.rs",
    "shared/domain/src/ports/files.rs",
    "shared/domain/src/ports/dead_letters.rs",
    "shared/domain/src/ports/concurrency.rs",
    "shared/domain/src/ports/handler_states.rs",
    "shared/domain/src/ports/presets.rs",
    "shared/domain/src/ports/pauses.rs",
    "shared/domain/src/ports/job_types.rs",
    "shared/domain/src/ports/sweeps.rs",
    "shared/domain/src/ports/records.rs",
    "shared/domain/src/ports/record_reader.rs",
    "shared/domain/src/ports/record_versions.rs",
    "shared/domain/src/ports/uploads.rs",
    "shared/domain/src/ports/limits.rs",
    "shared/domain/src/ports/events.rs",
    "shared/domain/src/ports/webhooks.rs",
    "shared/domain/src/ports/operator_log.rs",
    "shared/domain/src/ports/queue_statistics.rs",
];

/// Methods without a row: those of values that a port returns, which the row of the port's own method covers; and
/// `hide`, which every queue function calls on its source queue. The flow tests check that permission.
const WITHOUT_ROW: [&str; 3] = ["next", "finish", "hide"];

/// Returns true if the function never needs this: a worker sends the chunks of its own queues, and only operators list
/// the jobs of all tenants.
fn never_needs(function: &Function, need: &Need) -> bool {
    let is_chunk_queue = need.0 == SEND_HANDLER.0 && need.1.ends_with("ChunkQueue");
    match function.id.as_str() {
        id if *need == FIND_OF_DAY => id != "Operations",
        "ProcessItem" => *need == SEND_HANDLER,
        "CallHandler" => is_chunk_queue && *need != SEND_HANDLER,
        _ => false,
    }
}

fn permits(function: &Function, (action, resource, key): Need) -> bool {
    let bucket = resource.strip_suffix("/*");
    function.statements.iter().any(|statement| match bucket {
        Some(bucket) => {
            let prefix = format!("{bucket}/");
            statement.actions.contains(action) && statement.resources.iter().any(|name| name.starts_with(&prefix))
        }
        None => statement.covers(action, resource, key),
    })
}

/// Lists the calls of functions that their roles do not permit.
fn denied(template: &str) -> Vec<String> {
    let functions = functions(&Template::parse(template).unwrap()).unwrap();
    let mut denied = Vec::new();
    for function in functions.values() {
        for (receivers, method, needs) in CALLS {
            if reach::calls(&function.name, receivers, method) {
                for (action, resource, _) in
                    needs.iter().filter(|need| !never_needs(function, need) && !permits(function, **need))
                {
                    denied.push(format!("{}: {method} needs {action} on {resource}", function.id));
                }
            }
        }
    }
    denied
}

#[test]
fn every_call_of_a_function_is_permitted_by_its_role() {
    assert_eq!(denied(TEMPLATE), [""; 0]);
}

/// The API writes the items of requests. Reports and work files are only written by the functions behind the queues.
#[test]
fn the_api_can_write_and_remove_only_the_items_of_requests() {
    let functions = functions(&Template::parse(TEMPLATE).unwrap()).unwrap();
    let api = functions.values().find(|function| function.id == "JobsApi").unwrap();
    let is_change = |action: &String| action.starts_with("s3:") && !action.contains("Get") && action != "s3:ListBucket";
    let changes = api.statements.iter().filter(|statement| statement.actions.iter().any(is_change));
    let changed: BTreeSet<_> = changes.flat_map(|statement| statement.resources.iter().map(String::as_str)).collect();
    assert_eq!(changed, ["Bucket/jobs/*/source.jsonl"].into());
}

/// Functions whose roles permit to read a secret.
fn readers_of_secrets(template: &str) -> Vec<String> {
    let functions = functions(&Template::parse(template).unwrap()).unwrap();
    let reads = |function: &&Function| {
        let mut actions = function.statements.iter().flat_map(|statement| &statement.actions);
        actions.any(|action| action.starts_with("secretsmanager:") || action.contains('*'))
    };
    functions.values().filter(reads).map(|function| function.id.clone()).collect()
}

#[test]
fn only_the_functions_that_sign_or_show_secrets_can_read_the_root_secret() {
    let expected = ["CallHandler", "Deliver", "JobsApi"];
    assert_eq!(readers_of_secrets(TEMPLATE), expected);
    let logs = "Action: [logs:CreateLogStream, logs:PutLogEvents]\n                Resource: !GetAtt SweepLogs.Arn";
    let with_another = TEMPLATE.replace(logs, &logs.replace("logs:PutLogEvents", "secretsmanager:GetSecretValue"));
    assert_eq!(readers_of_secrets(&with_another), [&expected[..], &["Sweep"]].concat());
}

/// The log of operators: functions that may do anything with it, and what they may do.
fn permissions_on_the_log(template: &str) -> Vec<(String, String)> {
    let functions = functions(&Template::parse(template).unwrap()).unwrap();
    let on_log = |function: &Function| {
        let statements = function.statements.iter();
        let statements = statements.filter(|statement| statement.resources.iter().any(|name| is_log(name)));
        let actions = statements.flat_map(|statement| statement.actions.iter());
        let names: Vec<_> = actions.filter(|action| action.starts_with("dynamodb:")).cloned().collect();
        names.into_iter().map(|action| (function.id.clone(), action)).collect::<Vec<_>>()
    };
    functions.values().flat_map(on_log).collect()
}

fn is_log(resource: &str) -> bool {
    resource == "*" || resource.starts_with("OperatorLogTable")
}

#[test]
fn no_function_can_change_or_delete_an_entry_of_the_operators_log() {
    let entry = |action: &str| ("Operations".to_owned(), format!("dynamodb:{action}"));
    assert_eq!(permissions_on_the_log(TEMPLATE), [entry("PutItem"), entry("Query")]);
    let wider = TEMPLATE.replace(
        "Action: [dynamodb:PutItem, dynamodb:Query]",
        "Action: [dynamodb:PutItem, dynamodb:Query, dynamodb:UpdateItem]",
    );
    assert!(permissions_on_the_log(&wider).contains(&entry("UpdateItem")));
}

#[test]
fn a_removed_permission_is_reported() {
    let rows = [
        (
            "'dynamodb:LeadingKeys': ['UPLOAD#*']",
            "'dynamodb:LeadingKeys': ['OTHER#*']",
            "Operations: reopen needs dynamodb:PutItem",
        ),
        (
            "'dynamodb:LeadingKeys': ['PAUSES']",
            "'dynamodb:LeadingKeys': ['OTHER#*']",
            "Operations: end_pause needs dynamodb:DeleteItem",
        ),
        ("'${JobsTable.Arn}/index/day'", "'${JobsTable.Arn}/index/due'", "Operations: jobs needs dynamodb:Query"),
        ("Action: [dynamodb:PutItem, dynamodb:Query]", "Action: dynamodb:Query", "Operations: append needs"),
        ("Action: cloudwatch:GetMetricData", "Action: cloudwatch:ListMetrics", "Operations: oldest_ages needs"),
        (
            "                  - !GetAtt WebhookDeadLetters.Arn\n",
            "",
            "Operations: message_counts needs sqs:GetQueueAttributes on WebhookDeadLetters",
        ),
        (
            "'dynamodb:LeadingKeys': ['JOBTYPES', 'WEBHOOKS#*', 'SCHEDULES#*']",
            "'dynamodb:LeadingKeys': ['WEBHOOKS#*']",
            "JobsApi: delete_job_type needs",
        ),
        (
            "'dynamodb:LeadingKeys': ['EVENTS#*', 'DELIVERIES#*']",
            "'dynamodb:LeadingKeys': ['EVENTS#*']",
            "CompleteJob: move_events needs dynamodb:PutItem",
        ),
        ("['WEBHOOKS#*', 'DELIVERIES#*', 'ATTEMPTS#*']", "['WEBHOOKS#*', 'ATTEMPTS#*']", "Deliver: put_delivery needs"),
        (
            "                Resource: [!GetAtt HandlerChunkQueue.Arn, !GetAtt CompleteJobQueue.Arn]",
            "                Resource: !GetAtt CompleteJobQueue.Arn",
            "CallHandler: send_chunks needs",
        ),
        ("'dynamodb:LeadingKeys': ['GATE#*']", "'dynamodb:LeadingKeys': ['OTHER#*']", "ProcessItem: unpark needs"),
        (
            "'dynamodb:LeadingKeys': ['DATASET#*']",
            "'dynamodb:LeadingKeys': ['OTHER#*']",
            "JobsApi: delete needs dynamodb:DeleteItem on RecordsTable",
        ),
        (
            "Action: [dynamodb:PartiQLInsert, dynamodb:PartiQLUpdate, dynamodb:PartiQLDelete]",
            "Action: [dynamodb:PartiQLUpdate, dynamodb:PartiQLDelete]",
            "ProcessItem: put needs dynamodb:PartiQLInsert",
        ),
        (
            "Action: [dynamodb:GetItem, dynamodb:BatchGetItem, dynamodb:Query]\n                Resource: !GetAtt RecordsTable.Arn",
            "Action: [dynamodb:BatchGetItem, dynamodb:Query]\n                Resource: !GetAtt RecordsTable.Arn",
            "ProcessItem: read_records needs dynamodb:GetItem",
        ),
        (
            "Action: [dynamodb:GetItem, dynamodb:BatchGetItem, dynamodb:Query]\n                Resource: !GetAtt RecordsTable.Arn",
            "Action: [dynamodb:GetItem, dynamodb:Query]\n                Resource: !GetAtt RecordsTable.Arn",
            "ProcessItem: read_versions needs dynamodb:BatchGetItem",
        ),
        (", dynamodb:PartiQLDelete]", "]", "ProcessItem: put needs dynamodb:PartiQLDelete"),
        (
            "Action: [s3:PutObject, s3:AbortMultipartUpload]",
            "Action: s3:PutObject",
            "CompleteJob: abort_multipart needs",
        ),
        ("Action: [s3:PutObject, s3:DeleteObject]", "Action: s3:DeleteObject", "JobsApi: write needs s3:PutObject"),
        ("Action: [s3:PutObject, s3:DeleteObject]", "Action: s3:PutObject", "JobsApi: remove needs s3:DeleteObject"),
    ];
    for (old, new, expected) in rows {
        assert!(TEMPLATE.contains(old), "{old}");
        let denied = denied(&TEMPLATE.replace(old, new));
        assert!(denied.iter().any(|call| call.contains(expected)), "{expected}: {denied:?}");
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
