//! The receiver of webhooks: one endpoint, with a path for each tenant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::handlers::Endpoint;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::faults::server::{Server, wait_until};

/// The receiver. It records every call.
pub(super) struct Receiver {
    endpoint: Endpoint,
    folder: TempDir,
    /// Secrets by path.
    secrets: BTreeMap<String, String>,
    server: Mutex<Option<Server>>,
}

/// A recorded call.
#[derive(Debug, Deserialize)]
struct Call {
    accepted: bool,
    body: Value,
}

/// A webhook of a tenant.
#[derive(Clone, Debug)]
pub(super) struct Webhook {
    path: String,
    /// Path in the API.
    address: String,
    secret: String,
}

impl Webhook {
    /// Creates a webhook that gets the ends of jobs, and waits for the end of its first check: the receiver does not
    /// run yet.
    pub(super) fn create(client: &Client, endpoint: &Endpoint, path: &str) -> Result<Self> {
        let url = format!("{}{}", endpoint.url(), path.trim_start_matches('/'));
        let request = json!({ "url": url, "eventTypes": ["job.completed"] });
        let created = client.post("/api/webhooks", &request)?.expect(201)?;
        let text = |name: &str| created[name].as_str().with_context(|| format!("the webhook has no {name}"));
        let address = format!("/api/webhooks/{}", text("webhookId")?);
        let webhook = Self { path: path.to_owned(), address, secret: text("secret")?.to_owned() };
        wait_until("the first check has ended", || Ok(!webhook.read(client)?["check"]["result"].is_null()))?;
        Ok(webhook)
    }

    fn read(&self, client: &Client) -> Result<Value> {
        client.get(&self.address)?.expect(200)
    }

    /// Requests a check, and waits until it has passed.
    pub(super) fn check(&self, client: &Client) -> Result<()> {
        client.post(&format!("{}/test", self.address), &json!({}))?.expect(202)?;
        wait_until("a check has passed", || {
            let webhook = self.read(client)?;
            Ok(webhook["status"] == "active" && webhook["check"]["result"] == "passed")
        })
    }

    /// Returns true if the webhook fails.
    pub(super) fn is_failing(&self, client: &Client) -> Result<bool> {
        Ok(!self.read(client)?["failingSince"].is_null())
    }

    /// Id of the webhook.
    pub(super) fn id(&self) -> &str {
        self.address.rsplit('/').next().unwrap_or_default()
    }
}

impl Receiver {
    /// Starts the receiver of these webhooks.
    pub(super) fn start(endpoint: Endpoint, webhooks: &[Webhook]) -> Result<Self> {
        let secrets = webhooks.iter().map(|webhook| (webhook.path.clone(), webhook.secret.clone())).collect();
        let receiver = Self { endpoint, folder: tempfile::tempdir()?, secrets, server: Mutex::default() };
        fs::write(receiver.records(), "")?;
        receiver.serve()?;
        Ok(receiver)
    }

    /// Starts the server, in place of the one that runs.
    pub(super) fn serve(&self) -> Result<()> {
        self.serve_as(&self.endpoint)
    }

    /// Starts the server with a certificate that the stack does not trust.
    pub(super) fn serve_with_another_certificate(&self) -> Result<()> {
        self.serve_as(&self.endpoint.with_another_certificate()?)
    }

    /// Stops the server: connections are refused.
    pub(super) fn stop(&self) {
        drop(self.server.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn serve_as(&self, endpoint: &Endpoint) -> Result<()> {
        self.stop();
        let (records, secrets) = (self.records(), serde_json::to_string(&self.secrets)?);
        // No call fails at random.
        let arguments = [records.to_str().context("no path")?, "0"];
        let script = "tests/proof/faults/receiver.py";
        let server = Server::start(endpoint, self.folder.path(), &secrets, script, &arguments)?;
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = Some(server);
        Ok(())
    }

    fn records(&self) -> PathBuf {
        self.folder.path().join("records")
    }

    /// Ids of the jobs whose end was received.
    pub(super) fn received(&self) -> Result<BTreeSet<String>> {
        let records = fs::read_to_string(self.records())?;
        // The server can be killed while it writes.
        let calls = records.lines().filter_map(|line| serde_json::from_str::<Call>(line).ok());
        let accepted = calls.filter(|call| call.accepted);
        Ok(accepted.filter_map(|call| call.body["data"]["jobId"].as_str().map(str::to_owned)).collect())
    }
}
