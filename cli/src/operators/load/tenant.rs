//! The users of a run, and their clients.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::api::Api;
use crate::connection::{ConnectionOptions, has_token_variable};
use crate::output::exit::{CommandError, Exit};

/// A deployment and its user. The process that removes the test data gets them, and finds the same user.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserConnection {
    /// Deployment, token and profile.
    #[serde(flatten)]
    pub connection: ConnectionOptions,
    /// User of the local stack.
    pub user: Option<String>,
}

/// A user of the deployment.
pub(super) struct Tenant {
    pub(super) connection: UserConnection,
    pub(super) api: Api,
}

/// The options that name users.
#[derive(clap::Args)]
#[command(next_help_heading = "Deployment")]
pub(super) struct TenantOptions {
    /// Root URL of the API [env: LONGSHORE_API_URL] [default: the local stack of the checkout, or else the profile
    /// `default`]
    #[arg(long, value_name = "URL")]
    api_url: Option<String>,
    /// Token for the API; repeat it for each tenant [env: LONGSHORE_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    token: Vec<String>,
    /// Profile that `longshore login` has signed in to; repeat it for each tenant [env: LONGSHORE_PROFILE]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["api_url", "token", "user"])]
    profile: Vec<String>,
    /// User of the local stack; repeat it for each tenant [default: its first user]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["api_url", "token"])]
    user: Vec<String>,
}

impl UserConnection {
    /// Returns a client.
    ///
    /// # Errors
    /// If there is no such deployment or user.
    pub fn api(&self) -> Result<Api> {
        self.connection.api(self.user.as_deref())
    }
}

impl TenantOptions {
    /// Returns the tenants.
    ///
    /// # Errors
    /// If there is no such deployment or user.
    pub(super) fn tenants(&self) -> Result<Vec<Tenant>> {
        let connections = self.connections();
        if connections.len() > 1 && self.token.is_empty() && has_token_variable() {
            let reason = "LONGSHORE_TOKEN would be the token of every tenant: unset it";
            return Err(CommandError::new(Exit::Usage, reason).into());
        }
        connections.into_iter().map(|connection| Ok(Tenant { api: connection.api()?, connection })).collect()
    }

    fn connections(&self) -> Vec<UserConnection> {
        let with = |token: Option<&String>, profile: Option<&String>, user: Option<&String>| UserConnection {
            connection: ConnectionOptions::new(self.api_url.clone(), token.cloned(), profile.cloned()),
            user: user.cloned(),
        };
        let lists: [Vec<_>; 3] = [
            self.profile.iter().map(|name| with(None, Some(name), None)).collect(),
            self.token.iter().map(|token| with(Some(token), None, None)).collect(),
            self.user.iter().map(|name| with(None, None, Some(name))).collect(),
        ];
        lists.into_iter().find(|list| !list.is_empty()).unwrap_or_else(|| vec![with(None, None, None)])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn documents(options: &TenantOptions) -> Vec<Value> {
        options.connections().iter().map(|connection| serde_json::to_value(connection).unwrap()).collect()
    }

    #[test]
    fn every_name_is_a_tenant_and_without_names_there_is_one() {
        let text = |text: &str| text.to_owned();
        let mut options =
            TenantOptions { api_url: None, token: Vec::new(), profile: vec![text("a"), text("b")], user: Vec::new() };
        let names = |options: &TenantOptions| -> Vec<Value> {
            documents(options).into_iter().map(|mut document| document["profile"].take()).collect()
        };
        assert_eq!(names(&options), [json!("a"), json!("b")]);
        options.profile.clear();
        assert_eq!(names(&options), [Value::Null]);
        options.token = vec![text("t"), text("u"), text("v")];
        options.api_url = Some(text("https://a.example"));
        assert_eq!(documents(&options).len(), 3);
        assert!(documents(&options).iter().all(|user| user["apiUrl"].is_string() && user["token"].is_string()));
    }

    #[test]
    fn the_process_that_removes_the_test_data_gets_the_same_user() {
        let document = json!({ "apiUrl": "https://a.example", "token": "t", "profile": null, "user": "alice" });
        let connection: UserConnection = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(serde_json::to_value(connection).unwrap(), document);
    }
}
