//! A receiver of Longshore's webhooks: verifies each call, and stores each event once, as a file named by its id.
//!
//! `WEBHOOK_SECRETS` has the secret, and during a rotation two of them, separated by a space; `INBOX` is a folder. It
//! listens on `PORT` of 127.0.0.1, behind a proxy that terminates TLS.

use std::path::PathBuf;
use std::sync::Arc;
use std::{env, fs, process};

use anyhow::{Context, Result};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use standardwebhooks::{HEADER_WEBHOOK_ID, Webhook};
use tokio::net::TcpListener;

const MAX_BYTES: usize = 64 << 10;

struct Receiver {
    webhooks: Vec<Webhook>,
    inbox: PathBuf,
}

impl Receiver {
    /// Answers a call. One that no secret has signed within the last five minutes is refused.
    fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Result<(StatusCode, Json<Value>)> {
        if self.webhooks.iter().all(|webhook| webhook.verify(body, headers).is_err()) {
            return Ok((StatusCode::UNAUTHORIZED, Json(json!({}))));
        }
        let message: Value = serde_json::from_slice(body)?;
        if message["type"] == "webhook.check" {
            return Ok((StatusCode::OK, Json(json!({ "challenge": message["data"]["challenge"] }))));
        }
        let id = headers.get(HEADER_WEBHOOK_ID).context("the call has no id")?.to_str()?;
        let is_id = !id.is_empty() && id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_');
        if !is_id {
            return Ok((StatusCode::BAD_REQUEST, Json(json!({}))));
        }
        self.store(id, body)?;
        Ok((StatusCode::OK, Json(json!({}))))
    }

    /// Stores an event. Another delivery of it writes the same file again.
    fn store(&self, id: &str, body: &[u8]) -> Result<()> {
        let partial = self.inbox.join(format!(".{id}.{}", process::id()));
        fs::write(&partial, body)?;
        Ok(fs::rename(&partial, self.inbox.join(format!("{id}.json")))?)
    }
}

async fn receive(
    State(receiver): State<Arc<Receiver>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), StatusCode> {
    receiver.answer(&headers, &body).map_err(|error| {
        eprintln!("an event is not stored: {error:#}");
        StatusCode::INTERNAL_SERVER_ERROR
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let secrets = env::var("WEBHOOK_SECRETS").context("WEBHOOK_SECRETS is not set")?;
    let webhooks = secrets.split_whitespace().map(Webhook::new).collect::<Result<_, _>>()?;
    let receiver = Receiver { webhooks, inbox: env::var_os("INBOX").context("INBOX is not set")?.into() };
    let router =
        Router::new().fallback(post(receive)).layer(DefaultBodyLimit::max(MAX_BYTES)).with_state(Arc::new(receiver));
    let port = env::var("PORT").context("PORT is not set")?.parse()?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    Ok(axum::serve(listener, router).await?)
}
