//! The recount of a job from its stored data.

use anyhow::Result;
use serde_json::Value;

use crate::output::documents::print;
use crate::output::exit::Exit;
use crate::output::table;

/// Prints the audit. Returns the exit code: a difference is a failure.
pub(super) fn report(audit: &Value, as_json: bool) -> Result<Exit> {
    if as_json {
        print(audit)?;
    } else {
        print!("{}", table::render(["check", "expected", "found", ""], array(&audit["checks"]).map(check)));
        for difference in array(&audit["differences"]) {
            println!("different: {difference}");
        }
        for unchecked in array(&audit["unchecked"]) {
            println!("not checked: {unchecked}");
        }
        println!("{}", conclusion(audit));
    }
    Ok(if audit["equal"] == false { Exit::Failed } else { Exit::Success })
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn check(check: &Value) -> [String; 4] {
    let equal = if check["equal"] == true { "equal" } else { "DIFFERENT" };
    let name = check["name"].as_str().unwrap_or_default();
    [name.to_owned(), check["expected"].to_string(), check["found"].to_string(), equal.to_owned()]
}

fn conclusion(audit: &Value) -> &'static str {
    match audit["equal"].as_bool() {
        Some(true) => "Everything agrees.",
        Some(false) => "Something differs. Report it with the output of --json.",
        None => "Nothing differs, but not everything could be checked.",
    }
}
