//! Handlers of registered job types: the functions and the local HTTPS endpoint that a stack may call, the access keys of
//! its functions, and the switch of their queues.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use data_encoding::{BASE64, HEXUPPER};
use local_cloud::process::free_port;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::client::{Answer, Client};
use super::stack::{NAME, Stack};

/// The account of an emulator.
const ACCOUNT: &str = "000000000000";

/// The ARN of an alias that a registration names.
pub fn alias(function: &str) -> String {
    format!("{}:live", function_arn(function))
}

fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:us-east-1:{ACCOUNT}:function:{name}")
}

/// An HTTPS endpoint of a local stack: its port and its certificate are parameters of the deployment.
#[derive(Debug)]
pub struct Endpoint {
    /// Port.
    pub port: u16,
    /// Certificate in PEM.
    pub certificate: String,
    /// Its key in PEM.
    pub key: String,
}

impl Endpoint {
    /// Creates the certificate of an endpoint on a free port.
    ///
    /// # Errors
    /// If no port is free.
    pub fn new() -> Result<Self> {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        Ok(Self { port: free_port()?, certificate: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }

    /// An endpoint with the same certificate, on another free port.
    ///
    /// # Errors
    /// If no port is free.
    pub fn on_another_port(&self) -> Result<Self> {
        Ok(Self { port: free_port()?, certificate: self.certificate.clone(), key: self.key.clone() })
    }

    /// An endpoint on the same port, with a certificate that the stack does not trust.
    ///
    /// # Errors
    /// If no port is free.
    pub fn with_another_certificate(&self) -> Result<Self> {
        Ok(Self { port: self.port, ..Self::new()? })
    }

    /// The URL that a registration names.
    pub fn url(&self) -> String {
        format!("https://localhost:{}/", self.port)
    }
}

/// Parameters of a stack that may call these endpoints and functions. They live as long as the process.
pub fn parameters(endpoints: &[&Endpoint], functions: &[&str]) -> Vec<(&'static str, &'static str)> {
    let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let aliases: Vec<_> = functions.iter().map(|name| alias(name)).collect();
    let ports: Vec<_> = endpoints.iter().map(|endpoint| endpoint.port.to_string()).collect();
    let certificates: BTreeSet<_> = endpoints.iter().map(|endpoint| endpoint.certificate.as_str()).collect();
    let mut certificates: String = certificates.into_iter().collect();
    // Without padding, whose signs end a value on the command line.
    certificates.push_str(&"\n".repeat((3 - certificates.len() % 3) % 3));
    vec![
        ("HandlerFunctions", leaked(aliases.join(","))),
        ("HandlerPorts", leaked(ports.join(","))),
        ("LocalHandlerCa", leaked(BASE64.encode(certificates.as_bytes()))),
        ("ImageJobs", "true"),
    ]
}

impl Client {
    /// Registers a job type. Its handler is pinged afterwards.
    ///
    /// # Errors
    /// If there is no response at all.
    pub fn put_job_type(&self, name: &str, content: &Value) -> Result<Answer> {
        let headers = [("content-type", "application/json")];
        self.call("PUT", &format!("/api/job-types/{name}"), &headers, content.to_string().as_bytes())
    }

    /// Returns true if the job type is active as it was last registered. It is an error if its handler's ping was not good.
    ///
    /// # Errors
    /// If the candidate is refused.
    pub fn is_active(&self, name: &str) -> Result<bool> {
        let found = self.get(&format!("/api/job-types/{name}"))?.expect(200)?;
        ensure!(found["candidate"]["status"] != "refused", "{found}");
        Ok(found["status"] == "active" && found["candidate"].is_null())
    }
}

impl Stack {
    /// Creates a function in Python with the alias `live`: a handler of a team.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn create_python_function(&self, name: &str, handler: &str, files: &[PathBuf]) -> Result<()> {
        // A role that permits nothing but logs.
        let role = self.cloud.physical_id(NAME, "WebRole")?;
        self.cloud.create_python_function(name, handler, files, &role)
    }

    /// Replaces the files of a function in Python.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn update_python_function(&self, name: &str, files: &[PathBuf]) -> Result<()> {
        self.cloud.update_python_function(name, files)
    }

    /// Access key with which a function of the template signs its calls. The emulator derives it from the role and from
    /// the ARN by which the function was invoked: that of its alias `live` for a handler.
    ///
    /// # Errors
    /// If the template does not have the function, with its role of the usual name.
    pub fn access_key(&self, function: &str, invoked: InvokedBy) -> Result<String> {
        let role = self.cloud.physical_id(NAME, &format!("{function}Role"))?;
        let name = self.cloud.physical_id(NAME, function)?;
        let function = match invoked {
            InvokedBy::Name => function_arn(&name),
            InvokedBy::Alias => alias(&name),
        };
        let digest = Sha256::digest(format!("{function}:arn:aws:iam::{ACCOUNT}:role/{role}"));
        Ok(format!("ASIA{}", HEXUPPER.encode(&digest[..8])))
    }

    /// Starts or stops the delivery of the messages of a function's queue.
    ///
    /// # Errors
    /// If the function has no queue.
    pub fn set_delivery(&self, function_output: &str, delivery: Delivery) -> Result<()> {
        let is_on = delivery == Delivery::On;
        self.cloud.enable_mapping(self.output(function_output)?, is_on).context("the delivery cannot be switched")
    }

    /// Takes all messages of a queue that are not in flight. Returns their bodies.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn take_messages(&self, queue_output: &str) -> Result<Vec<String>> {
        let (url, sqs, mut bodies) = (self.output(queue_output)?, self.aws.sqs(), Vec::new());
        loop {
            let batch = self.run(sqs.receive_message().queue_url(url).max_number_of_messages(10).send())?;
            if batch.messages().is_empty() {
                return Ok(bodies);
            }
            for message in batch.messages.unwrap_or_default() {
                self.run(sqs.delete_message().queue_url(url).set_receipt_handle(message.receipt_handle).send())?;
                bodies.extend(message.body);
            }
        }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn send_message(&self, queue_output: &str, body: &str) -> Result<()> {
        let url = self.output(queue_output)?;
        self.run(self.aws.sqs().send_message().queue_url(url).message_body(body).send())?;
        Ok(())
    }
}

/// The way in which a function is invoked.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum InvokedBy {
    /// By its name.
    Name,
    /// By its alias.
    Alias,
}

/// Delivery of a queue's messages to its function.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Delivery {
    /// Messages are delivered.
    On,
    /// Messages stay in the queue.
    Off,
}
