//! The tokens with which a client calls the API.

use std::time::Instant;

use anyhow::Result;
use ureq::Agent;

/// The tokens of a user. A call to the issuer ends at `until`.
pub trait Tokens: Send + Sync {
    /// Returns a token that is valid for the next call; `None` if the API is open.
    ///
    /// # Errors
    /// If the user has to sign in again, or the issuer does not answer.
    fn token(&self, agent: &Agent, until: Option<Instant>) -> Result<Option<String>>;

    /// Returns a new token in place of one that the API has refused; `None` if there is none.
    ///
    /// # Errors
    /// Like [`Tokens::token`].
    fn renewed(&self, agent: &Agent, refused: &str, until: Option<Instant>) -> Result<Option<String>>;
}

/// A token that cannot be renewed.
pub(super) struct Fixed(pub(super) Option<String>);

impl Tokens for Fixed {
    fn token(&self, _: &Agent, _: Option<Instant>) -> Result<Option<String>> {
        Ok(self.0.clone())
    }

    fn renewed(&self, _: &Agent, _: &str, _: Option<Instant>) -> Result<Option<String>> {
        Ok(None)
    }
}
