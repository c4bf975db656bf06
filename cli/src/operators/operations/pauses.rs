//! Pauses of job types and tenants.

use anyhow::Result;
use clap::ArgGroup;
use serde_json::{Value, json};

use crate::api::Api;
use crate::output::documents::{path, text};
use crate::output::pages::query;

const PAUSES: &str = "/api/operations/pauses";

/// A pause of a job type or of a tenant.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("paused").args(["job_type", "tenant"]).required(true))]
pub(super) struct Pause {
    /// Pause all jobs of this type
    #[arg(long = "type", value_name = "TYPE")]
    job_type: Option<String>,
    /// Pause all jobs of this tenant
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,
    /// End, at most 7 days from now, such as 2026-07-01T12:00:00Z; 24 hours from now by default
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Reason, for the operators' log
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Pause {
    /// Pauses, and prints the pause that is in force.
    pub(super) fn execute(&self, api: &Api) -> Result<()> {
        let pause = api.post(PAUSES, Some(&self.request()), "pausing")?;
        println!("{}", sentence(&pause));
        Ok(())
    }

    fn request(&self) -> Value {
        let mut request = json!({ "reason": self.reason });
        for (name, value) in [("type", &self.job_type), ("tenant", &self.tenant), ("until", &self.until)] {
            if let Some(value) = value {
                request[name] = json!(value);
            }
        }
        request
    }
}

/// The end of a pause.
#[derive(clap::Args)]
pub(super) struct Resume {
    /// Id of the pause, as `pauses` prints it
    #[arg(value_name = "ID")]
    pause: String,
    /// Reason, for the operators' log
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Resume {
    /// Ends the pause.
    pub(super) fn execute(&self, api: &Api) -> Result<()> {
        let to = query(&path(PAUSES, &self.pause), &[("reason", Some(&self.reason))]);
        let action = "ending the pause";
        api.change("DELETE", &to, None, action)?.success(action)?;
        println!("{}: ended. Its jobs resume within about three minutes.", self.pause);
        Ok(())
    }
}

/// Describes the pause that is in force after a call.
fn sentence(pause: &Value) -> String {
    let [id, until, by] = ["pauseId", "until", "by"].map(|name| text(&pause[name]));
    let before = if pause["isNew"] == false { "nothing was changed: " } else { "" };
    format!("{before}{id}: paused until {until} by {by}. End it with `longshore operations resume {id} --reason TEXT`.")
}

/// Reads the pauses that are in force.
pub(super) fn read(api: &Api) -> Result<Vec<Value>> {
    let document = api.get(PAUSES, "listing the pauses")?;
    Ok(document["pauses"].as_array().cloned().unwrap_or_default())
}

/// Returns a pause as a row of a table.
pub(super) fn row(pause: &Value) -> [String; 6] {
    ["pauseId", "type", "tenant", "since", "until", "by"].map(|name| text(&pause[name]))
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn either_a_type_or_a_tenant_is_paused() {
        let parse = |arguments: &[&str]| {
            let command = <Pause as clap::Args>::augment_args(clap::Command::new("pause"));
            command.try_get_matches_from([&["pause", "--reason", "r"], arguments].concat())
        };
        assert!(parse(&["--type", "t"]).is_ok() && parse(&["--tenant", "t"]).is_ok());
        let missing = parse(&[]).unwrap_err().to_string();
        assert!(missing.contains("--type <TYPE>") && missing.contains("--tenant <TENANT>"), "{missing}");
        assert_eq!(parse(&["--type", "t", "--tenant", "t"]).unwrap_err().kind(), ErrorKind::ArgumentConflict);
    }

    #[test]
    fn a_pause_that_was_made_before_is_said_to_be_unchanged() {
        let pause = |is_new: bool| json!({ "pauseId": "p", "until": "t", "by": "olga", "isNew": is_new });
        assert!(sentence(&pause(true)).starts_with("p: paused until t by olga."));
        assert!(sentence(&pause(false)).starts_with("nothing was changed: p: paused until t by olga."));
    }

    #[test]
    fn a_request_has_only_what_was_given() {
        let pause =
            Pause { job_type: Some("invite".to_owned()), tenant: None, until: None, reason: "repair".to_owned() };
        assert_eq!(pause.request(), json!({ "type": "invite", "reason": "repair" }));
    }
}
