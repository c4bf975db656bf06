//! `webhooks`: endpoints that get events, and their deliveries.

use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Subcommand};
use serde_json::{Value, json};

use crate::connection::ConnectionOptions;
use crate::output::documents::{apply, delete, path, print, print_list, status, text};
use crate::output::exit::CODES;
use crate::output::pages::{List, all};

/// Options of `webhooks`.
#[derive(clap::Args)]
#[command(after_help = CODES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Subcommand)]
enum Action {
    /// List the webhooks, with their state
    #[command(after_help = CODES)]
    List {
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a webhook as JSON
    #[command(after_help = CODES)]
    Get {
        /// Id of the webhook, as `list` prints it
        webhook: String,
    },
    /// Create a webhook, or with --id replace one, from a file with the API's request as JSON; `-` reads standard input.
    /// Prints the secret of a new one, which is shown only once
    #[command(after_help = CODES)]
    Apply {
        /// File with the API's request as JSON; `-` reads standard input
        file: PathBuf,
        /// Webhook to replace
        #[arg(long, value_name = "WEBHOOK")]
        id: Option<String>,
    },
    /// Send a test event
    #[command(after_help = CODES)]
    Test {
        /// Id of the webhook, as `list` prints it
        webhook: String,
    },
    /// List the deliveries of the last days, newest first
    #[command(after_help = CODES)]
    Deliveries {
        /// Id of the webhook, as `list` prints it
        webhook: String,
        /// Print the API's JSON
        #[arg(long)]
        json: bool,
    },
    /// Send deliveries again: one, or all that failed since a time
    #[command(
        override_usage = "longshore webhooks replay [OPTIONS] <WEBHOOK> <DELIVERY|--since <TIME>>",
        after_help = CODES,
        group = ArgGroup::new("replayed").required(true).args(["delivery", "since"])
    )]
    Replay {
        /// Id of the webhook, as `list` prints it
        webhook: String,
        /// Id of the delivery, as `deliveries` prints it
        delivery: Option<String>,
        /// All failed deliveries of events since this time, such as 2026-02-13T18:30:00Z
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
    },
    /// Delete a webhook with its deliveries
    #[command(after_help = CODES)]
    Delete {
        /// Id of the webhook, as `list` prints it
        webhook: String,
    },
}

const PATH: &str = "/api/webhooks";

const WEBHOOKS: List = List { action: "listing the webhooks", member: "webhooks" };
const DELIVERIES: List = List { action: "listing the deliveries", member: "deliveries" };

/// Runs the command.
///
/// # Errors
/// If the API refuses the call.
pub fn run(options: &Options) -> Result<()> {
    let api = options.connection.api(None)?;
    match &options.action {
        Action::List { json } => {
            let webhooks = all(&api, WEBHOOKS, PATH)?;
            print_list(&webhooks, json.then_some("webhooks"), ["id", "url", "status", "failing since"], row)
        }
        Action::Get { webhook } => print(&api.get(&path(PATH, webhook), "reading the webhook")?),
        Action::Apply { file, id } => apply(&api, PATH, id.as_deref(), file, "storing the webhook"),
        Action::Test { webhook } => {
            let action = "sending the test event";
            api.change("POST", &format!("{}/test", path(PATH, webhook)), None, action)?.success(action)?;
            println!(
                "{webhook}: a test event is being sent; `longshore webhooks deliveries {webhook}` shows the answer"
            );
            Ok(())
        }
        Action::Deliveries { webhook, json } => {
            let path = format!("{}/deliveries", path(PATH, webhook));
            let found = all(&api, DELIVERIES, &path)?;
            print_list(&found, json.then_some("deliveries"), ["id", "event", "status", "attempts", "next"], delivery)
        }
        Action::Replay { webhook, delivery, since } => {
            let base = path(PATH, webhook);
            let (target, request) = match delivery {
                Some(delivery) => (format!("{}/replay", path(&format!("{base}/deliveries"), delivery)), None),
                None => (format!("{base}/replay"), Some(json!({ "since": since }))),
            };
            let action = "replaying the deliveries";
            api.change("POST", &target, request.as_ref(), action)?.success(action)?;
            println!(
                "{webhook}: deliveries are being sent again; `longshore webhooks deliveries {webhook}` shows them"
            );
            Ok(())
        }
        Action::Delete { webhook } => delete(&api, PATH, webhook, "deleting the webhook"),
    }
}

fn row(webhook: &Value) -> [String; 4] {
    let status = status(&webhook["status"], &webhook["disabledReason"]);
    [text(&webhook["webhookId"]), text(&webhook["url"]), status, text(&webhook["failingSince"])]
}

fn delivery(delivery: &Value) -> [String; 5] {
    [
        text(&delivery["deliveryId"]),
        text(&delivery["event"]["type"]),
        text(&delivery["status"]),
        text(&delivery["attempts"]),
        text(&delivery["nextAttemptAt"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disabled_webhook_shows_why() {
        let webhook = json!({ "webhookId": "w", "url": "https://a.example", "status": "disabled", "disabledReason": "failing",
            "failingSince": "t" });
        assert_eq!(row(&webhook), ["w", "https://a.example", "disabled (failing)", "t"]);
    }
}
