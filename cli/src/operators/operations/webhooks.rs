//! Webhooks of a tenant.

use anyhow::Result;
use serde_json::Value;

use crate::api::Api;
use crate::output::documents::{print_list, status, text};
use crate::output::pages::query;

/// The webhooks to list.
#[derive(clap::Args)]
pub(super) struct Webhooks {
    /// Webhooks of this tenant
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// List healthy webhooks, too
    #[arg(long)]
    all: bool,
    /// Print the webhooks as JSON
    #[arg(long)]
    json: bool,
}

impl Webhooks {
    /// Prints the webhooks, oldest first.
    pub(super) fn execute(&self, api: &Api) -> Result<()> {
        let document = api.get(&self.path(), "listing the webhooks")?;
        let webhooks = document["webhooks"].as_array().cloned().unwrap_or_default();
        let heading = ["id", "host", "status", "failures", "failing since", "paused until"];
        print_list(&webhooks, self.json.then_some("webhooks"), heading, row)
    }

    fn path(&self) -> String {
        let all = self.all.then_some("true");
        query("/api/operations/webhooks", &[("tenant", Some(self.tenant.as_str())), ("all", all)])
    }
}

fn row(webhook: &Value) -> [String; 6] {
    let status = status(&webhook["status"], &webhook["disabledReason"]);
    let [id, host, failures, since, until] =
        ["webhookId", "host", "failures", "failingSince", "pausedUntil"].map(|name| text(&webhook[name]));
    [id, host, status, failures, since, until]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn healthy_webhooks_are_listed_only_on_request() {
        let webhooks = |all| Webhooks { tenant: "a&b".to_owned(), all, json: false };
        assert_eq!(webhooks(false).path(), "/api/operations/webhooks?tenant=a%26b");
        assert_eq!(webhooks(true).path(), "/api/operations/webhooks?tenant=a%26b&all=true");
    }

    #[test]
    fn a_webhook_is_a_row_with_the_reason_why_it_is_disabled() {
        let webhook = json!({ "webhookId": "w", "host": "a.example", "status": "disabled", "disabledReason": "gone",
            "failures": 5, "failingSince": "t", "pausedUntil": null });
        assert_eq!(row(&webhook), ["w", "a.example", "disabled (gone)", "5", "t", "-"]);
    }
}
