//! Public settings of the deployment for the page: `GET /config.json`.

use longshore::config::{self, ConfigError, text};
use longshore::http::{Access, Operators};
use serde::Serialize;

/// Origin to which files are uploaded: `https://bucket.s3.region.amazonaws.com`.
const UPLOAD_ORIGIN: &str = "LONGSHORE_UPLOAD_ORIGIN";
/// Address of the runbook. It is a path in the repository until an operator sets it.
const RUNBOOK_URL: &str = "LONGSHORE_RUNBOOK_URL";
/// Issuer of tokens, as in their `iss`.
const ISSUER: &str = "LONGSHORE_SIGN_IN_ISSUER";
/// Client id of the page at the issuer.
const CLIENT_ID: &str = "LONGSHORE_SIGN_IN_CLIENT_ID";
/// Scopes requested at sign-in, separated by spaces.
const SCOPE: &str = "LONGSHORE_SIGN_IN_SCOPE";
/// Root of Cognito's hosted sign-in page. Not set for other issuers, which publish their endpoints.
const HOSTED_PAGE: &str = "LONGSHORE_SIGN_IN_PAGE";
/// Variable that points every AWS SDK to an emulator, which serves all of AWS at one address.
const EMULATOR: &str = "AWS_ENDPOINT_URL";

/// Settings of the page. The serialized fields are public.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Sign-in of users; `None` if access is open.
    pub sign_in: Option<SignIn>,
    /// URL of the runbook; `None` if its address is not a URL of the web.
    pub runbook_url: Option<String>,
    #[serde(skip)]
    upload_origin: String,
}

/// Sign-in by OpenID Connect: authorization code with PKCE, no secret.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// Issuer of tokens.
    pub issuer: String,
    /// Client id of the page at the issuer.
    pub client_id: String,
    /// Requested scopes.
    pub scope: String,
    /// Token that the API requires.
    pub token: Token,
    /// Root of Cognito's hosted sign-in page.
    pub hosted_page: Option<String>,
    /// The words by which the page recognizes operators, to whom it shows their area. The API checks each call itself.
    pub operators: OperatorRule,
}

/// The claim of the API's token that identifies operators, and its words.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperatorRule {
    /// Name of the claim.
    pub claim: String,
    /// Word of operators.
    pub group: String,
    /// Word of read-only operators; `None` if there are none.
    pub read_only_group: Option<String>,
}

impl From<Operators> for OperatorRule {
    fn from(Operators { claim, group, read_only_group }: Operators) -> Self {
        Self { claim, group, read_only_group }
    }
}

/// A token of the issuer.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Token {
    /// The access token, for calls of APIs.
    Access,
    /// The ID token, with claims about the user.
    Id,
}

impl Settings {
    /// Creates the settings of a page that uploads files to `upload_origin`.
    #[must_use]
    pub fn new(sign_in: Option<SignIn>, upload_origin: String) -> Self {
        Self { sign_in, runbook_url: None, upload_origin }
    }

    /// Sets the address of the runbook. One that is not a URL of the web is left out: a link to it would lead nowhere.
    #[must_use]
    pub fn with_runbook(self, address: String) -> Self {
        let is_url = ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme));
        Self { runbook_url: is_url.then_some(address), ..self }
    }

    /// Reads the settings that the template sets.
    ///
    /// # Errors
    /// If a required setting is missing.
    pub fn from_env() -> Result<Self, ConfigError> {
        let emulator = text(EMULATOR).ok();
        let sign_in = match config::access()? {
            Access::Open => None,
            Access::SignedIn { tenant_claim } => {
                let hosted_page = text(HOSTED_PAGE).ok();
                // Among Cognito's tokens, only the ID token has attributes of the user, such as custom:tenant.
                let is_attribute = hosted_page.is_some() && tenant_claim != "sub";
                Some(SignIn {
                    issuer: text(ISSUER)?,
                    client_id: text(CLIENT_ID)?,
                    scope: text(SCOPE)?,
                    token: if is_attribute { Token::Id } else { Token::Access },
                    hosted_page: hosted_page.map(|page| emulator.clone().unwrap_or(page)),
                    operators: config::operators()?.into(),
                })
            }
        };
        let settings = Self::new(sign_in, emulator.map_or_else(|| text(UPLOAD_ORIGIN), Ok)?);
        Ok(settings.with_runbook(text(RUNBOOK_URL).unwrap_or_default()))
    }

    /// Returns the origin to which files are uploaded.
    pub(crate) fn upload_origin(&self) -> &str {
        &self.upload_origin
    }

    /// Returns the origin from which the page requests tokens.
    pub(crate) fn sign_in_origin(&self) -> Option<&str> {
        let sign_in = self.sign_in.as_ref()?;
        Some(origin(sign_in.hosted_page.as_ref().unwrap_or(&sign_in.issuer)))
    }
}

/// Returns scheme, host and port of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |end| &url[..host + end])
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn the_origin_of_a_url_ends_before_its_path() {
        assert_eq!(origin("https://id.example.com/tenant/v2.0"), "https://id.example.com");
        assert_eq!(origin("http://127.0.0.1:4566"), "http://127.0.0.1:4566");
    }
}
