//! `costs`: what the jobs of a month have cost, of the caller's tenant, or for operators, also
//! read-only ones, of any tenant or of all.

use anyhow::Result;
use serde_json::Value;

use crate::connection::{ConnectionOptions, OPERATOR};
use crate::output::documents::{print, text};
use crate::output::exit::CODES;
use crate::output::pages::query;
use crate::output::table;

const PATH: &str = "/api/costs";

/// Options of `costs`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct Options {
    /// Month in UTC, such as 2026-11; the present one by default
    #[arg(long, value_name = "YYYY-MM")]
    month: Option<String>,
    /// Tenant, for operators and read-only operators only; * for all tenants
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
}

/// Runs the command.
///
/// # Errors
/// If the API refuses the call.
pub fn run(options: &Options) -> Result<()> {
    // Only operators see the costs of a tenant that they name.
    let api = options.connection.api(options.tenant.as_ref().map(|_| OPERATOR))?;
    let costs = api.get(&path(options.month.as_deref(), options.tenant.as_deref()), "reading the costs")?;
    if options.json {
        return print(&costs);
    }
    print!("{}", render(&costs));
    Ok(())
}

fn path(month: Option<&str>, tenant: Option<&str>) -> String {
    query(PATH, &[("month", month), ("tenant", tenant)])
}

/// Returns a table with a row for each job type and one for all of them, another one with a row for each tenant if the
/// costs are those of all tenants, and the source of the prices.
fn render(costs: &Value) -> String {
    let all = row(["all".to_owned(), text(&costs["runs"])], &costs["cost"]);
    let types = rows(&costs["jobTypes"], "jobType").chain([all]);
    let mut page = table::render(heading("job type"), types) + "\n";
    if costs["tenants"].is_array() {
        page += &(table::render(heading("tenant"), rows(&costs["tenants"], "tenant")) + "\n");
    }
    if costs["truncated"].as_bool() == Some(true) {
        page += "Incomplete: the month has more job types and tenants than are read, so the sums are too low.\n";
    } else if let Some(rows) = costs["omittedRows"].as_u64() {
        page += &format!("{rows} more rows are not listed; the sums include them.\n");
    }
    let prices = &costs["prices"];
    page += &format!(
        "{}: at the list prices of {} of {}.\n",
        text(&costs["month"]),
        text(&prices["region"]),
        text(&prices["date"])
    );
    page
}

fn heading(first: &str) -> [&str; 8] {
    [first, "runs", "total $", "compute", "requests", "database", "storage", "queue"]
}

/// Returns a row for each entry of a list, which begins with this member.
fn rows<'a>(entries: &'a Value, name: &'a str) -> impl Iterator<Item = [String; 8]> + use<'a> {
    let entries = entries.as_array().into_iter().flatten();
    entries.map(move |entry| row([text(&entry[name]), text(&entry["runs"])], &entry["cost"]))
}

fn row([name, runs]: [String; 2], cost: &Value) -> [String; 8] {
    let dollars = |amount: &Value| format!("{:.6}", amount.as_f64().unwrap_or_default());
    let part = |name: &str| dollars(&cost["parts"][name]);
    [
        name,
        runs,
        dollars(&cost["total"]),
        part("compute"),
        part("requests"),
        part("database"),
        part("storage"),
        part("queue"),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_job_type_is_a_row_and_all_of_them_are_the_last_one() {
        let cost = json!({ "total": 0.06, "parts": { "compute": 0.01, "requests": 0, "database": 0.05, "storage": 0, "queue": 0 } });
        let costs = json!({
            "month": "2026-11", "runs": 3, "cost": cost, "prices": { "date": "2026-11-01", "region": "us-east-1" },
            "jobTypes": [{ "jobType": "import", "runs": 3, "cost": cost }],
        });
        let text = render(&costs);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("job type  runs  total $") && lines[1].starts_with("import    3     0.060000"));
        assert_eq!(lines[4], "2026-11: at the list prices of us-east-1 of 2026-11-01.");
        assert!(lines[2].starts_with("all       3     0.060000"), "{text}");
    }

    #[test]
    fn the_costs_of_all_tenants_have_a_row_for_each() {
        let cost = json!({ "total": 0.06, "parts": {} });
        let costs = json!({
            "month": "2026-11", "runs": 3, "cost": cost, "prices": {}, "jobTypes": [],
            "tenants": [{ "tenant": "acme", "runs": 3, "cost": cost }],
        });
        let text = render(&costs);
        assert!(text.contains("\ntenant  runs  total $") && text.contains("\nacme    3     0.060000"), "{text}");
    }

    #[test]
    fn missing_rows_and_sums_are_told() {
        let costs = |more: Value| {
            let mut costs = json!({ "month": "2026-11", "runs": 3, "cost": {}, "prices": {}, "jobTypes": [] });
            costs.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            render(&costs)
        };
        assert!(costs(json!({ "truncated": true, "omittedRows": 4 })).contains("Incomplete: "));
        assert!(costs(json!({ "omittedRows": 4 })).contains("\n4 more rows are not listed"));
        let complete = costs(json!({}));
        assert!(!complete.contains("Incomplete") && !complete.contains("listed"), "{complete}");
    }

    #[test]
    fn month_and_tenant_are_parameters() {
        assert_eq!(path(None, None), "/api/costs");
        assert_eq!(path(Some("a&b"), None), "/api/costs?month=a%26b");
        assert_eq!(path(Some("2026-11"), Some("a b")), "/api/costs?month=2026-11&tenant=a+b");
        assert_eq!(path(None, Some("*")), "/api/costs?tenant=*");
    }
}
