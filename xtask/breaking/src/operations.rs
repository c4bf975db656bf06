//! Compares calls: presence, parameters, request bodies and responses.

use serde_json::Value;

use crate::change::{Change, Found};
use crate::pair::{Pair, members, resolved};
use crate::schemas::{self, Direction};

/// Lists every difference between the calls of two documents.
pub(crate) fn compare(pair: &Pair<'_>) -> Vec<Change> {
    let mut found = Found::default();
    for (path, item) in members(&pair.old["paths"]) {
        for (method, old) in members(item) {
            let place = format!("{} {path}", method.to_uppercase());
            match pair.new["paths"].get(path).and_then(|item| item.get(method)) {
                Some(new) => operation(pair, &place, old, new, &mut found),
                None => found.breaking(&place, "the call is gone"),
            }
        }
    }
    for (path, item) in members(&pair.new["paths"]) {
        for (method, _) in members(item).filter(|(method, _)| pair.old["paths"][path].get(method.as_str()).is_none()) {
            found.fine(&format!("{} {path}", method.to_uppercase()), "the call is new");
        }
    }
    found.0
}

fn operation(pair: &Pair<'_>, place: &str, old: &Value, new: &Value, found: &mut Found) {
    if old["operationId"] != new["operationId"] {
        found.breaking(place, "its operationId is another: generated clients name their methods by it");
    }
    let is_public = |operation: &Value| operation["security"].as_array().is_some_and(|all| needs_nothing(all));
    if is_public(old) && !is_public(new) {
        found.breaking(place, "it was public and wants a token");
    }
    parameters(pair, place, old, new, found);
    request_body(pair, place, old, new, found);
    responses(pair, place, old, new, found);
}

fn needs_nothing(requirements: &[Value]) -> bool {
    requirements.iter().all(|requirement| requirement.as_object().is_none_or(serde_json::Map::is_empty))
}

fn parameters(pair: &Pair<'_>, place: &str, old: &Value, new: &Value, found: &mut Found) {
    let all = |operation: &Value| operation["parameters"].as_array().cloned().unwrap_or_default();
    let (old, new) = (all(old), all(new));
    let same = |a: &Value, b: &Value| {
        let name = |parameter: &Value| parameter["name"].as_str().unwrap_or_default().to_lowercase();
        a["in"] == b["in"] && name(a) == name(b)
    };
    for old in &old {
        let place = format!("{place}, parameter {}", old["name"].as_str().unwrap_or_default());
        match new.iter().find(|new| same(old, new)) {
            None => found.breaking(&place, "it is gone"),
            Some(new) => {
                if new["required"] == true && old["required"] != true {
                    found.breaking(&place, "it is required now");
                }
                schemas::compare(pair, Direction::Sent, &place, (&old["schema"], &new["schema"]), found);
            }
        }
    }
    for new in new.iter().filter(|new| !old.iter().any(|old| same(old, new))) {
        let place = format!("{place}, parameter {}", new["name"].as_str().unwrap_or_default());
        if new["required"] == true {
            found.breaking(&place, "it is new and required");
        } else {
            found.fine(&place, "it is new");
        }
    }
}

fn request_body(pair: &Pair<'_>, place: &str, old: &Value, new: &Value, found: &mut Found) {
    let place = format!("{place}, body");
    let (old, new) = (&old["requestBody"], &new["requestBody"]);
    match (old.is_null(), new.is_null()) {
        (true, true) => {}
        (true, false) if new["required"] == true => found.breaking(&place, "it is required now"),
        (true, false) => found.fine(&place, "it is new"),
        (false, true) => found.breaking(&place, "it is gone"),
        (false, false) => {
            if new["required"] == true && old["required"] != true {
                found.breaking(&place, "it is required now");
            }
            content(pair, Direction::Sent, &place, (old, new), found);
        }
    }
}

fn responses(pair: &Pair<'_>, place: &str, old: &Value, new: &Value, found: &mut Found) {
    for (status, answer) in members(&old["responses"]) {
        let place = format!("{place}, answer {status}");
        let is_error = status.starts_with(['4', '5']);
        match new["responses"].get(status) {
            Some(new) => response(pair, &place, (resolved(pair.old, answer), resolved(pair.new, new)), found),
            None if is_error => found.fine(&place, "it is gone"),
            None => found.breaking(&place, "it is gone"),
        }
    }
    for (status, _) in members(&new["responses"]).filter(|(status, _)| old["responses"].get(status.as_str()).is_none())
    {
        let place = format!("{place}, answer {status}");
        // Clients must handle any error status, but not a new success status.
        if status.starts_with(['4', '5']) {
            found.fine(&place, "it is new");
        } else {
            found.breaking(&place, "it is new, and no error");
        }
    }
}

fn response(pair: &Pair<'_>, place: &str, (old, new): (&Value, &Value), found: &mut Found) {
    content(pair, Direction::Answered, place, (old, new), found);
    for (name, header) in members(&old["headers"]) {
        let place = format!("{place}, header {name}");
        match new["headers"].get(name) {
            Some(new) => {
                schemas::compare(pair, Direction::Answered, &place, (&header["schema"], &new["schema"]), found);
            }
            None => found.breaking(&place, "it is gone"),
        }
    }
}

fn content(pair: &Pair<'_>, direction: Direction, place: &str, (old, new): (&Value, &Value), found: &mut Found) {
    for (media_type, content) in members(&old["content"]) {
        let place = format!("{place}, {media_type}");
        match new["content"].get(media_type) {
            Some(new) => schemas::compare(pair, direction, &place, (&content["schema"], &new["schema"]), found),
            None => found.breaking(&place, "it is gone"),
        }
    }
    let media_types = members(&new["content"]).map(|(media_type, _)| media_type);
    for media_type in media_types.filter(|media_type| old["content"].get(media_type.as_str()).is_none()) {
        found.fine(&format!("{place}, {media_type}"), "it is new");
    }
}
