//! A call as a shell command that uses the variables `$API` and `$TOKEN`.

use serde_json::Value;

use super::document::{Call, array, text};

/// Example of an id.
const ID: &str = "019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e";

/// Returns the command, with one option per line.
pub(super) fn command(call: &Call<'_>) -> String {
    let method = call.method.to_uppercase();
    let curl = if method == "GET" { "curl -s".to_owned() } else { format!("curl -sX {method}") };
    let mut lines = vec![format!("{curl} \"$API{}{}\"", path(call), query(call))];
    if !call.is_public() {
        lines.push("-H \"authorization: Bearer $TOKEN\"".to_owned());
    }
    for parameter in array(&call.operation["parameters"]) {
        if parameter["in"] == "header" && parameter["example"].is_string() {
            lines.push(format!("-H '{}: {}'", text(&parameter["name"]).to_lowercase(), text(&parameter["example"])));
        }
    }
    let body = &call.operation["requestBody"]["content"]["application/json"]["example"];
    if !body.is_null() {
        lines.push("-H 'content-type: application/json'".to_owned());
        lines.push(format!("-d '{}'", escape(body)));
    }
    lines.join(" \\\n     ")
}

fn path(call: &Call<'_>) -> String {
    let parameters = array(&call.operation["parameters"]).iter().filter(|parameter| parameter["in"] == "path");
    parameters.fold(call.path.to_owned(), |path, parameter| {
        let example = parameter["example"].as_str().unwrap_or(ID);
        path.replace(&format!("{{{}}}", text(&parameter["name"])), example)
    })
}

/// Returns the required parameters of the query, whose examples need no encoding.
fn query(call: &Call<'_>) -> String {
    let parameters = array(&call.operation["parameters"]).iter();
    let required = parameters.filter(|parameter| parameter["in"] == "query" && parameter["required"] == true);
    let pairs = required.map(|parameter| format!("{}={}", text(&parameter["name"]), text(&parameter["example"])));
    pairs.enumerate().map(|(index, pair)| format!("{}{pair}", if index == 0 { '?' } else { '&' })).collect()
}

/// Escapes JSON for single quotes of a shell.
fn escape(body: &Value) -> String {
    body.to_string().replace('\'', "'\\''")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_shown_as_a_shell_command() {
        let operation = json!({
            "parameters": [
                { "name": "id", "in": "path" },
                { "name": "Idempotency-Key", "in": "header", "example": "k" },
                { "name": "If-Match", "in": "header" },
                { "name": "key", "in": "query", "required": true, "example": "k" },
                { "name": "limit", "in": "query", "required": false, "example": "5" },
            ],
            "requestBody": { "content": { "application/json": { "example": { "name": "it's" } } } },
        });
        let call = Call { document: &Value::Null, method: "post", path: "/a/{id}", operation: &operation };
        let expected = format!(
            "curl -sX POST \"$API/a/{ID}?key=k\" \\\n     -H \"authorization: Bearer $TOKEN\" \\\n     \
             -H 'idempotency-key: k' \\\n     -H 'content-type: application/json' \\\n     \
             -d '{{\"name\":\"it'\\''s\"}}'"
        );
        assert_eq!(command(&call), expected);
    }
}
