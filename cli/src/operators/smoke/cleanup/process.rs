//! The process that removes the test data: the messages to it, one JSON document per line, and the test's end of the
//! pipe.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::operators::cleanup_process::{self, CleanupProcess};

/// Base64url, with or without padding.
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Metadata of the job. Its value is the name of the test.
pub(in crate::operators::smoke) const METADATA: &str = "smoke";

/// A message, sent as one line.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Message {
    /// The deployment; the last message wins.
    Deployment(Deployment),
    /// Something that the test created or is about to create: its kind, and its id or name.
    #[serde(rename = "made")]
    Resource(Kind, String),
}

/// The deployment that has the test data.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    /// Root URL of the API.
    pub api: String,
    /// Token for the API; `None` if it is open.
    pub token: Option<String>,
    /// Name of the token's tenant claim.
    pub tenant_claim: String,
    /// Outputs of the stack.
    pub outputs: BTreeMap<String, String>,
    /// URL of an emulator; `None` for the account of the shell.
    pub endpoint: Option<String>,
}

impl Deployment {
    /// Returns an output of the stack.
    pub(super) fn output(&self, name: &str) -> Result<&str> {
        let output = self.outputs.get(name).map(String::as_str);
        output.with_context(|| format!("the stack has no output {name}"))
    }

    /// Returns the tenant, derived from the token as the API does. Without a token it is `default`.
    pub(super) fn tenant(&self) -> Result<TenantId> {
        let Some(token) = &self.token else { return Ok(DEFAULT_TENANT.clone()) };
        let claim = &self.tenant_claim;
        let tenant = read_tenant(token, claim);
        tenant.with_context(|| format!("the tenant is unknown, because the token is not a JWT with the claim {claim}"))
    }
}

fn read_tenant(token: &str, claim: &str) -> Option<TenantId> {
    let claims: Value = serde_json::from_slice(&BASE64_URL.decode(token.split('.').nth(1)?).ok()?).ok()?;
    TenantId::parse(claims.get(claim)?.as_str()?)
}

/// A kind of test data, in the order of removal: the job first, because it writes records while it runs; the user last,
/// because its token is needed to remove the job.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A job, with its files and its upload.
    Job,
    /// A job whose creation was not answered, by the name of its test.
    UnansweredJob,
    /// An upload without a job.
    Upload,
    /// All records of a dataset.
    Dataset,
    /// A user of the pool.
    User,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Job => "job",
            Self::UnansweredJob => "job of the test",
            Self::Upload => "upload",
            Self::Dataset => "dataset",
            Self::User => "user",
        })
    }
}

/// Name of the hidden command.
const NAME: &str = "smoke-cleanup";

/// The process that removes the test data. It starts the removal when this value is dropped or this process ends.
pub struct Cleanup(CleanupProcess);

impl Cleanup {
    /// Starts the process. Must be called before the test creates anything.
    pub(in crate::operators::smoke) fn start(deployment: Deployment) -> Result<Self> {
        let mut cleanup = Self(CleanupProcess::start(NAME)?);
        cleanup.deployment(deployment)?;
        Ok(cleanup)
    }

    /// Sends the deployment; the last call wins.
    pub(in crate::operators::smoke) fn deployment(&mut self, deployment: Deployment) -> Result<()> {
        self.0.send(&Message::Deployment(deployment))
    }

    /// Registers something for removal.
    pub(in crate::operators::smoke) fn add(&mut self, kind: Kind, id: &str) -> Result<()> {
        self.0.send(&Message::Resource(kind, id.to_owned()))
    }

    /// Removes everything now. The process prints each removal.
    pub(in crate::operators::smoke) fn run(self) -> Result<()> {
        if !self.0.run()? {
            bail!("not all test data could be removed: see above");
        }
        Ok(())
    }
}

/// Returns the command of the process. It reads messages from a pipe.
pub fn command(program: &Path) -> Command {
    cleanup_process::command(program, NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(token: Option<&str>) -> Result<TenantId> {
        Deployment { token: token.map(str::to_owned), tenant_claim: "sub".into(), ..Deployment::default() }.tenant()
    }

    #[test]
    fn the_tenant_is_read_from_the_claim() -> Result<()> {
        assert_eq!(tenant(None)?.as_str(), "default");
        // {"sub":"acme"}, without padding and with it.
        for payload in ["eyJzdWIiOiJhY21lIn0", "eyJzdWIiOiJhY21lIn0="] {
            assert_eq!(tenant(Some(&format!("e30.{payload}.c2ln")))?.as_str(), "acme");
        }
        Ok(())
    }

    #[test]
    fn a_token_that_is_not_a_jwt_is_reported_as_the_cause() {
        for token in ["bad", "a.b.c", "e30.e30.e30", "e30.W10.e30"] {
            let error = tenant(Some(token)).map_err(|error| error.to_string());
            let expected = "the tenant is unknown, because the token is not a JWT with the claim sub";
            assert_eq!(error, Err(expected.to_owned()), "{token}");
        }
    }
}
