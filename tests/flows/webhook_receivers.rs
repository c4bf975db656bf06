//! The receivers of `examples/webhooks`, in Python, Node and Rust: each verifies real calls with the package of Standard
//! Webhooks, and stores the events as the list has them.

use std::cell::Cell;
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use local_cloud::process::free_port;
use longshore_domain::timestamp::Timestamp;
use longshore_tests::harness::client::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::events::await_event;
use crate::https_server::Site;
use crate::shared::{Story, impatient, wait_until};
use crate::webhooks::{call, run, secret_of};

/// A receiver, until it is dropped.
struct Receiver {
    process: Child,
    port: u16,
    inbox: TempDir,
}

impl Receiver {
    /// Runs a command that listens on `PORT`.
    fn start(mut command: Command, secret: &str) -> Result<Self> {
        let (port, inbox) = (free_port()?, tempfile::tempdir()?);
        command.env("PORT", port.to_string()).env("INBOX", inbox.path()).env("WEBHOOK_SECRETS", secret);
        command.env("PYTHONDONTWRITEBYTECODE", "1").stderr(Stdio::null());
        let process = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let receiver = Self { process, port, inbox };
        wait_until(|| Ok(TcpStream::connect(("127.0.0.1", port)).is_ok())).context("the receiver does not start")?;
        Ok(receiver)
    }

    /// Returns the stored event; null until it is there.
    fn event(&self, id: &str) -> Result<Value> {
        let text = fs::read(self.inbox.path().join(format!("{id}.json")));
        text.map_or(Ok(Value::Null), |text| Ok(serde_json::from_slice(&text)?))
    }

    /// Returns the first line of the response to a call with these headers.
    fn response_to(&self, headers: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let call = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n{headers}\r\n{{}}"
        );
        stream.write_all(call.as_bytes())?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response.lines().next().unwrap_or_default().to_owned())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The commands of the examples.
fn receivers() -> Result<[Command; 3]> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/webhooks");
    let venv = env::var_os("LONGSHORE_VENV").context("LONGSHORE_VENV is not set; `cargo xtask test` sets it")?;
    let mut python = Command::new(Path::new(&venv).join("bin/python"));
    python.arg(examples.join("python/receiver.py"));
    ensure!(examples.join("node/node_modules").exists(), "run `npm ci` in examples/webhooks/node");
    let mut node = Command::new("node");
    node.arg(examples.join("node/receiver.mjs"));
    // The tests are in the folder `deps` beside the binaries.
    let rust =
        env::current_exe()?.parent().and_then(Path::parent).context("no target folder")?.join("webhook-receiver");
    ensure!(rust.exists(), "run `cargo build --workspace --bins`");
    Ok([python, node, Command::new(rust)])
}

#[test]
fn each_example_of_a_receiver_stores_the_events_of_the_list() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let user = stack.users.add("receivers")?;
    let client = stack.client.clone().with_token(&user.token);
    let mut stored = Vec::new();
    for command in receivers()? {
        let name = format!("{command:?}");
        stored.push(receives(&client, command).with_context(|| name)?);
    }
    // The list is some seconds late.
    for (job, event) in stored {
        await_event(&client, &job, "job.completed")?;
        let listed =
            client.events()?.into_iter().find(|listed| listed["id"] == event["id"]).context("not in the list")?;
        ensure!(event == listed, "{event}, but in the list: {listed}");
    }
    Ok(())
}

/// Waits until a webhook is active. Nobody answered the first check, and a machine under load can answer too late: as the
/// owner of a webhook does, it asks for another check when one has failed, or has no result after half a minute.
fn await_active(client: &Client, path: &str) -> Story {
    let read = || Ok::<_, anyhow::Error>(call(client, "GET", path, &json!({}))?.1);
    let asked_at = Cell::new(Instant::now());
    let is_active = || {
        let webhook = read()?;
        let is_over = !webhook["check"]["result"].is_null() || asked_at.get().elapsed() > Duration::from_secs(30);
        if webhook["status"] == "pending" && is_over {
            let (status, answer) = call(client, "POST", &format!("{path}/test"), &json!({}))?;
            ensure!(status == 202, "{status} {answer}");
            asked_at.set(Instant::now());
        }
        Ok(webhook["status"] == "active")
    };
    wait_until(is_active).with_context(|| format!("the check fails: {:?}", read()))
}

/// Runs a receiver, and returns a job with the event of its end as the receiver has stored it.
fn receives(client: &Client, command: Command) -> Result<(String, Value)> {
    let webhook = json!({ "url": Site::Receivers.endpoint().url() });
    let (status, created) = call(client, "POST", "", &webhook)?;
    ensure!(status == 201, "{status} {created}");
    let path = format!("/{}", created["webhookId"].as_str().context("no id")?);
    let receiver = Receiver::start(command, secret_of(&created)?)?;
    let port = receiver.port.to_string();
    let flows = Path::new(env!("CARGO_MANIFEST_DIR")).join("flows");
    let _proxy = Site::Receivers.serve(&flows, "webhook_proxy", &[("RECEIVER_PORT", &port)])?;
    await_active(client, &path)?;
    let job = run(client)?;
    let ended = format!("{job}-0-completed");
    wait_until(|| Ok(!receiver.event(&ended)?.is_null())).context("the event does not arrive")?;
    let event = receiver.event(&ended)?;
    let forged = format!(
        "webhook-id: {job}-1-failed\r\nwebhook-timestamp: {}\r\nwebhook-signature: v1,AAAA\r\n",
        Timestamp::now().seconds()
    );
    for headers in ["", &forged] {
        let response = receiver.response_to(headers)?;
        ensure!(response.contains(" 401 "), "{response} to {headers}");
    }
    ensure!(call(client, "DELETE", &path, &json!({}))?.0 == 204, "not deleted");
    Ok((job, event))
}
