//! An example of a custom job type: invites the people in a file, one per row.
//!
//! Longshore does everything else: upload, splitting, exact progress, retries, the failures file, the results.

use longshore::handler::{ItemKey, JobContext, JobType, Outcome};

/// Options of the job, as clients send them.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Options {
    /// Event to which the people are invited.
    pub event: String,
}

/// A row of the file.
#[derive(serde::Deserialize)]
pub struct Person {
    name: String,
    email: String,
}

/// The output of a row: a row of the results.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    message_id: String,
}

/// The job type, with its mail client.
pub struct Invite<M> {
    /// Mail client.
    pub mailer: M,
}

impl<M: Mailer> JobType for Invite<M> {
    const NAME: &'static str = "invite";
    type Options = Options;
    type Item = Person;
    type Output = Sent;

    async fn process(&self, _: &JobContext, options: &Options, key: ItemKey, person: Person) -> Outcome<Sent> {
        if !person.email.contains('@') {
            return Outcome::reject("bad_email", Some("email"), format!("{:?} is not an e-mail address", person.email));
        }
        if person.name.is_empty() {
            return Outcome::Skip { reason: "the name is empty".into() };
        }
        match self.mailer.send(&person.email, &format!("{}, come to {}", person.name, options.event), key).await {
            Ok(message_id) => Outcome::Ok(Sent { message_id }),
            Err(reason) => Outcome::Retry { after: None, reason },
        }
    }
}

/// A mail client that sends at most one mail per idempotency key.
pub trait Mailer: Send + Sync + 'static {
    /// Sends a mail, and returns its id. After an error, the item is retried.
    fn send(&self, to: &str, text: &str, key: ItemKey) -> impl Future<Output = Result<String, String>> + Send;
}

/// A mailer that only logs the length of its mails.
pub struct LogMailer;

impl Mailer for LogMailer {
    async fn send(&self, _to: &str, text: &str, key: ItemKey) -> Result<String, String> {
        tracing::debug!(%key, text_bytes = text.len(), "mail sent");
        Ok(format!("{key}@example.com"))
    }
}
