//! Compares calls: presence, parameters, request bodies and responses.

use serde_json::Value;

use crate::change::{Change, Changes, Pair, members, resolve};
use crate::schemas::{self, Direction};

/// Lists every difference between the calls of two documents.
pub(crate) fn compare(documents: &Pair<'_>) -> Vec<Change> {
    let mut changes = Changes::default();
    for (path, item) in members(&documents.old["paths"]) {
        for (method, old) in members(item) {
            let location = format!("{} {path}", method.to_uppercase());
            match documents.new["paths"].get(path).and_then(|item| item.get(method)) {
                Some(new) => operation(documents, &location, Pair { old, new }, &mut changes),
                None => changes.breaking(&location, "the call was removed"),
            }
        }
    }
    for (path, item) in members(&documents.new["paths"]) {
        let old_item = &documents.old["paths"][path];
        for (method, _) in members(item).filter(|(method, _)| old_item.get(method.as_str()).is_none()) {
            changes.compatible(&format!("{} {path}", method.to_uppercase()), "the call was added");
        }
    }
    changes.0
}

fn operation(documents: &Pair<'_>, location: &str, calls: Pair<'_>, changes: &mut Changes) {
    if calls.old["operationId"] != calls.new["operationId"] {
        changes
            .breaking(location, "its operationId changed, and generated clients derive the names of methods from it");
    }
    if is_public(calls.old) && !is_public(calls.new) {
        changes.breaking(location, "the call was public and now requires a token");
    }
    parameters(documents, location, calls, changes);
    request_body(documents, location, calls, changes);
    responses(documents, location, calls, changes);
}

fn is_public(call: &Value) -> bool {
    let is_empty = |requirement: &Value| requirement.as_object().is_none_or(serde_json::Map::is_empty);
    call["security"].as_array().is_some_and(|requirements| requirements.iter().all(is_empty))
}

fn parameters(documents: &Pair<'_>, location: &str, calls: Pair<'_>, changes: &mut Changes) {
    let list = |call: &Value| call["parameters"].as_array().cloned().unwrap_or_default();
    let (old, new) = (list(calls.old), list(calls.new));
    let is_same = |a: &Value, b: &Value| {
        let name = |parameter: &Value| parameter["name"].as_str().unwrap_or_default().to_lowercase();
        a["in"] == b["in"] && name(a) == name(b)
    };
    for old in &old {
        let location = format!("{location}, parameter {}", old["name"].as_str().unwrap_or_default());
        match new.iter().find(|new| is_same(old, new)) {
            None => changes.breaking(&location, "it was removed"),
            Some(new) => {
                if new["required"] == true && old["required"] != true {
                    changes.breaking(&location, "it became required");
                }
                let schemas = Pair { old: &old["schema"], new: &new["schema"] };
                schemas::compare(documents, Direction::Request, &location, schemas, changes);
            }
        }
    }
    for new in new.iter().filter(|new| !old.iter().any(|old| is_same(old, new))) {
        let location = format!("{location}, parameter {}", new["name"].as_str().unwrap_or_default());
        if new["required"] == true {
            changes.breaking(&location, "it was added and is required");
        } else {
            changes.compatible(&location, "it was added");
        }
    }
}

fn request_body(documents: &Pair<'_>, location: &str, calls: Pair<'_>, changes: &mut Changes) {
    let location = format!("{location}, body");
    let (old, new) = (&calls.old["requestBody"], &calls.new["requestBody"]);
    match (old.is_null(), new.is_null()) {
        (true, true) => {}
        (true, false) if new["required"] == true => changes.breaking(&location, "it became required"),
        (true, false) => changes.compatible(&location, "it was added"),
        (false, true) => changes.breaking(&location, "it was removed"),
        (false, false) => {
            if new["required"] == true && old["required"] != true {
                changes.breaking(&location, "it became required");
            }
            content(documents, Direction::Request, &location, Pair { old, new }, changes);
        }
    }
}

fn responses(documents: &Pair<'_>, location: &str, calls: Pair<'_>, changes: &mut Changes) {
    let (old, new) = (&calls.old["responses"], &calls.new["responses"]);
    for (status, old_response) in members(old) {
        let location = format!("{location}, response {status}");
        let is_error = status.starts_with(['4', '5']);
        match new.get(status) {
            Some(new_response) => {
                let old = resolve(documents.old, old_response);
                let new = resolve(documents.new, new_response);
                response(documents, &location, Pair { old, new }, changes);
            }
            None if is_error => changes.compatible(&location, "it was removed"),
            None => changes.breaking(&location, "it was removed"),
        }
    }
    for (status, _) in members(new).filter(|(status, _)| old.get(status.as_str()).is_none()) {
        let location = format!("{location}, response {status}");
        // Clients must handle any error status, but not a new success status.
        if status.starts_with(['4', '5']) {
            changes.compatible(&location, "it was added");
        } else {
            changes.breaking(&location, "a status that is not an error was added");
        }
    }
}

fn response(documents: &Pair<'_>, location: &str, responses: Pair<'_>, changes: &mut Changes) {
    content(documents, Direction::Response, location, responses, changes);
    for (name, old) in members(&responses.old["headers"]) {
        let location = format!("{location}, header {name}");
        match responses.new["headers"].get(name) {
            Some(new) => {
                let schemas = Pair { old: &old["schema"], new: &new["schema"] };
                schemas::compare(documents, Direction::Response, &location, schemas, changes);
            }
            None => changes.breaking(&location, "it was removed"),
        }
    }
}

/// Compares the schemas of each media type of a request body or a response.
fn content(documents: &Pair<'_>, direction: Direction, location: &str, bodies: Pair<'_>, changes: &mut Changes) {
    let (old, new) = (&bodies.old["content"], &bodies.new["content"]);
    for (media_type, content) in members(old) {
        let location = format!("{location}, {media_type}");
        match new.get(media_type) {
            Some(new) => {
                let schemas = Pair { old: &content["schema"], new: &new["schema"] };
                schemas::compare(documents, direction, &location, schemas, changes);
            }
            None => changes.breaking(&location, "it was removed"),
        }
    }
    for (media_type, _) in members(new).filter(|(media_type, _)| old.get(media_type.as_str()).is_none()) {
        changes.compatible(&format!("{location}, {media_type}"), "it was added");
    }
}
