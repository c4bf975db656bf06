//! Users of the stack's user pool. Their tokens come from a real sign-in, so the API accepts them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use local_cloud::cloud::{Cloud, UserPool, sub};
use serde_json::{Value, json};
use url::Url;

/// Password of every user, with all character classes that the pool's policy requires.
const PASSWORD: &str = "Correct-horse-7-battery";

/// The verifier of RFC 7636's example.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A user pool and one of its clients.
#[derive(Clone, Debug)]
pub struct Users {
    cloud: Cloud,
    pool: UserPool,
}

/// A signed-in user.
#[derive(Clone, Debug)]
pub struct User {
    /// Tenant of the user: the claim `sub`.
    pub tenant: String,
    /// An access token, valid for an hour.
    pub token: String,
}

impl Users {
    /// The user pool of a stack with these outputs.
    ///
    /// # Errors
    /// If the stack has no user pool.
    pub fn new(cloud: &Cloud, outputs: &BTreeMap<String, String>) -> Result<Self> {
        let pool = UserPool::of_stack(cloud, outputs).context("the stack has no user pool")?;
        Ok(Self { cloud: cloud.clone(), pool })
    }

    /// Creates a user and signs in.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn add(&self, name: &str) -> Result<User> {
        self.add_to(name, &[])
    }

    /// Creates an operator and signs in.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn add_operator(&self, name: &str) -> Result<User> {
        self.add_to(name, &["operators"])
    }

    /// Creates a read-only operator and signs in.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn add_auditor(&self, name: &str) -> Result<User> {
        self.add_to(name, &["auditors"])
    }

    fn add_to(&self, name: &str, groups: &[&str]) -> Result<User> {
        let attributes = self.pool.create(name, None)?;
        self.pool.set_password(name, PASSWORD)?;
        for group in groups {
            self.pool.add_to_group(name, group)?;
        }
        Ok(User { tenant: sub(&attributes)?, token: self.sign_in(name, "AccessToken")? })
    }

    /// A new token of this kind, `AccessToken` or `IdToken`.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn sign_in(&self, name: &str, kind: &str) -> Result<String> {
        let tokens = self.pool.tokens(name, PASSWORD)?;
        let token = if kind == "IdToken" { tokens.id_token } else { tokens.access_token };
        token.with_context(|| format!("the sign-in returned no {kind}"))
    }

    /// Signs in through the sign-in page, as a browser does: authorization code flow with the challenge of RFC 7636's
    /// example. Returns the response to the exchange of the code with this verifier.
    ///
    /// # Errors
    /// If the page returns no code.
    pub fn sign_in_by_page(&self, name: &str, callback: &str, verifier: &str) -> Result<Value> {
        let client = [("client_id", self.pool.client_id()), ("redirect_uri", callback)];
        let request = [("response_type", "code"), ("scope", "openid"), ("state", "s")];
        let challenge = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
        let form = [&client[..], &request, &challenge, &[("username", name), ("password", PASSWORD)]].concat();
        let redirect = self.cloud.form("/login", &form)?;
        let (_, code) =
            redirect.split_once("code=").with_context(|| format!("the page returned no code: {redirect}"))?;
        let code = code.split('&').next().unwrap_or(code);
        let exchange = [("grant_type", "authorization_code"), ("code", code), ("code_verifier", verifier)];
        Ok(serde_json::from_str(&self.cloud.form("/oauth2/token", &[&client[..], &exchange].concat())?)?)
    }

    /// Signs in at this URL of the sign-in page, as a browser does. Returns the URL that the page redirects to.
    ///
    /// # Errors
    /// If the page does not answer.
    pub fn sign_in_at(&self, name: &str, url: &str) -> Result<String> {
        let query: Vec<_> = Url::parse(url)?.query_pairs().into_owned().collect();
        let fields = query.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let form: Vec<_> = fields.chain([("username", name), ("password", PASSWORD)]).collect();
        self.cloud.form("/login", &form)
    }

    /// The same pool with another client. Its tokens are for another service.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn through_another_client(&self) -> Result<Self> {
        let flows = ["ALLOW_ADMIN_USER_PASSWORD_AUTH"];
        let client = json!({ "UserPoolId": self.pool.id(), "ClientName": "another", "ExplicitAuthFlows": flows });
        let response = self.call("CreateUserPoolClient", &client)?;
        let id = response["UserPoolClient"]["ClientId"].as_str().context("the client has no id")?;
        Ok(Self { pool: self.pool.with_client(id), ..self.clone() })
    }

    fn call(&self, action: &str, body: &Value) -> Result<Value> {
        self.cloud.json("cognito-idp", &format!("AWSCognitoIdentityProviderService.{action}"), body)
    }

    /// Sets the validity of new access tokens.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn set_validity(&self, value: u32, unit: &str) -> Result<Value> {
        let units = json!({ "AccessToken": unit, "IdToken": "minutes", "RefreshToken": "days" });
        self.call(
            "UpdateUserPoolClient",
            &json!({ "UserPoolId": self.pool.id(), "ClientId": self.pool.client_id(), "AccessTokenValidity": value,
                "TokenValidityUnits": units }),
        )
    }
}
