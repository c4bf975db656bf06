//! An example of a job type of one's own: invites the people of a file, one row each.
//!
//! Everything else - upload, splitting, exact progress, retries, the file of the rows that failed - is Longshore's.

use longshore::handler::{ItemKey, JobContext, JobType, Outcome};

/// What clients write as `options`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Options {
    /// To what they are invited.
    pub event: String,
}

/// One row of the file.
#[derive(serde::Deserialize)]
pub struct Person {
    name: String,
    email: String,
}

/// The job type, with the client that it needs.
pub struct Invite<M> {
    /// Sends the mail.
    pub mailer: M,
}

impl<M: Mailer> JobType for Invite<M> {
    const NAME: &'static str = "invite";
    type Options = Options;
    type Item = Person;

    async fn process(&self, _: &JobContext, options: &Options, key: ItemKey, person: Person) -> Outcome {
        if !person.email.contains('@') {
            return Outcome::reject("bad_email", Some("email"), format!("{:?} is no e-mail address", person.email));
        }
        if person.name.is_empty() {
            return Outcome::Skip { reason: "nobody to greet".into() };
        }
        match self.mailer.send(&person.email, &format!("{}, come to {}", person.name, options.event), key).await {
            Ok(()) => Outcome::Ok,
            Err(reason) => Outcome::Retry { after: None, reason },
        }
    }
}

/// Sends one mail at most once under one key.
pub trait Mailer: Send + Sync + 'static {
    /// Sends; an error is worth another try.
    fn send(&self, to: &str, text: &str, key: ItemKey) -> impl Future<Output = Result<(), String>> + Send;
}

/// A mailer that only says how long its mails are.
pub struct LogMailer;

impl Mailer for LogMailer {
    async fn send(&self, _to: &str, text: &str, key: ItemKey) -> Result<(), String> {
        tracing::debug!(%key, text_bytes = text.len(), "mail sent");
        Ok(())
    }
}
