//! Signing secrets of endpoints, derived from one root secret.
//!
//! An endpoint's secret is HKDF-SHA256 (RFC 5869) of the root secret, with the endpoint's id and the secret's version as
//! `info`. Nothing but the version is stored, and the secret of one endpoint says nothing about another's.

use std::fmt;

use data_encoding::BASE64;
use hkdf::Hkdf;
use sha2::Sha256;

/// Prefix of a symmetric secret in Standard Webhooks.
const PREFIX: &str = "whsec_";
/// Bytes of a secret that Standard Webhooks permits.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// Bytes of a derived secret.
const DERIVED_BYTES: usize = 32;
/// Minimum bytes of a root secret.
const ROOT_BYTES: usize = 32;
/// Purpose of the derived secrets: another use of the root secret has another one.
const PURPOSE: &[u8] = b"longshore standard-webhooks v1";
/// Prefix of a job type's name in the id of its endpoint.
const JOB_TYPE: &str = "job-type/";
/// Version of the secrets of job types. They are not rotated yet.
const FIRST_VERSION: u32 = 1;
/// Bytes of a block of SHA-256. HMAC pads a shorter key with zeros, so that the padded key is equivalent.
pub(crate) const BLOCK: usize = 64;

/// The secret of one endpoint.
#[derive(Clone, Eq, PartialEq)]
pub struct SigningSecret {
    padded: [u8; BLOCK],
    bytes: usize,
}

/// The secrets with which a call is signed. During a rotation there are two, and a receiver accepts either.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Secrets {
    /// One secret.
    One(SigningSecret),
    /// A new secret, and the one that it replaces.
    Rotating {
        /// The new secret.
        new: SigningSecret,
        /// The secret that receivers may still have.
        old: SigningSecret,
    },
}

/// The secret from which all others are derived.
#[derive(Clone)]
pub struct RootSecret(Hkdf<Sha256>);

/// A secret that is not usable.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum SecretError {
    /// A length that Standard Webhooks does not permit.
    #[error("A signing secret has 24 to 64 bytes, and this one has {0}.")]
    Length(usize),
    /// Text that is not `whsec_` and base64.
    #[error("A signing secret is written as {PREFIX} and base64.")]
    Text,
    /// A root secret that is too short.
    #[error("A root secret has at least {ROOT_BYTES} bytes, and this one has {0}. Generate it at random.")]
    Root(usize),
}

impl SigningSecret {
    /// Creates a secret from its bytes.
    ///
    /// # Errors
    /// Returns an error unless there are 24 to 64 bytes.
    pub fn from_bytes(secret: &[u8]) -> Result<Self, SecretError> {
        let mut padded = [0; BLOCK];
        match padded.get_mut(..secret.len()) {
            Some(start) if BYTES.contains(&secret.len()) => start.copy_from_slice(secret),
            _ => return Err(SecretError::Length(secret.len())),
        }
        Ok(Self { padded, bytes: secret.len() })
    }

    /// Parses the form that receivers have: `whsec_` and base64.
    ///
    /// # Errors
    /// Returns an error if the prefix, the encoding or the length is wrong.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(SecretError::Text)?;
        Self::from_bytes(&BASE64.decode(encoded.as_bytes()).map_err(|_| SecretError::Text)?)
    }

    /// Returns the secret as receivers are given it. It must not be logged.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", BASE64.encode(&self.padded[..self.bytes]))
    }

    pub(crate) fn padded(&self) -> [u8; BLOCK] {
        self.padded
    }
}

impl Secrets {
    /// Returns the secret that receivers are to have.
    pub const fn newest(&self) -> &SigningSecret {
        match self {
            Self::One(secret) | Self::Rotating { new: secret, .. } => secret,
        }
    }

    /// Iterates over the secrets, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = &SigningSecret> {
        let (new, old) = match self {
            Self::One(secret) => (secret, None),
            Self::Rotating { new, old } => (new, Some(old)),
        };
        std::iter::once(new).chain(old)
    }
}

impl RootSecret {
    /// Creates a root secret from random bytes.
    ///
    /// # Errors
    /// Returns an error if there are fewer than 32.
    pub fn from_bytes(secret: &[u8]) -> Result<Self, SecretError> {
        if secret.len() < ROOT_BYTES {
            return Err(SecretError::Root(secret.len()));
        }
        Ok(Self(Hkdf::new(None, secret)))
    }

    /// Derives a version of an endpoint's secret.
    ///
    /// # Errors
    /// Returns no error for the length of a secret, which HKDF supports.
    pub fn derive(&self, endpoint: &str, version: u32) -> Result<SigningSecret, SecretError> {
        let mut secret = [0; DERIVED_BYTES];
        // The lengths keep "a" and "bc" apart from "ab" and "c".
        let info = [PURPOSE, &(endpoint.len() as u64).to_be_bytes(), endpoint.as_bytes(), &version.to_be_bytes()];
        self.0.expand_multi_info(&info, &mut secret).map_err(|_| SecretError::Length(DERIVED_BYTES))?;
        SigningSecret::from_bytes(&secret)
    }

    /// Derives the secret of a job type's endpoint. It belongs to the name: a new registration keeps it.
    ///
    /// # Errors
    /// See [`derive`](Self::derive).
    pub fn derive_for_job_type(&self, name: &str) -> Result<SigningSecret, SecretError> {
        self.derive(&format!("{JOB_TYPE}{name}"), FIRST_VERSION)
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret")
    }
}

impl fmt::Debug for RootSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_as_receivers_write_it() {
        let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let secret = SigningSecret::parse(text).unwrap();
        assert_eq!(secret.reveal(), text);
        assert_eq!(format!("{:?}", Secrets::One(secret)), "One(SigningSecret)");
        for (text, error) in [
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", SecretError::Text),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", SecretError::Text),
            ("whsec_", SecretError::Length(0)),
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLQ==", SecretError::Length(22)),
        ] {
            assert_eq!(SigningSecret::parse(text), Err(error), "{text}");
        }
        for (bytes, valid) in [(23, false), (24, true), (64, true), (65, false)] {
            assert_eq!(SigningSecret::from_bytes(&vec![7; bytes]).is_ok(), valid, "{bytes}");
        }
    }

    #[test]
    fn each_endpoint_and_version_has_its_own_secret_and_always_the_same() {
        let root = RootSecret::from_bytes(&[7; 32]).unwrap();
        let other = RootSecret::from_bytes(&[8; 32]).unwrap();
        let secret = |endpoint, version| root.derive(endpoint, version).unwrap();
        assert_eq!(secret("invite", 1), secret("invite", 1));
        let mut secrets = vec![other.derive("invite", 1).unwrap().reveal()];
        secrets.extend(["invite", "invit", "", "invite\0"].map(|endpoint| secret(endpoint, 1).reveal()));
        secrets.extend([0, 2, 256].map(|version| secret("invite", version).reveal()));
        let all = secrets.len();
        secrets.sort();
        secrets.dedup();
        assert_eq!(secrets.len(), all);
        assert_eq!(RootSecret::from_bytes(&[7; 31]).unwrap_err(), SecretError::Root(31));
    }

    #[test]
    fn a_derived_secret_never_changes() {
        // Receivers hold this secret: another value breaks all of them.
        let root = RootSecret::from_bytes(&[7; 32]).unwrap();
        assert_eq!(root.derive("invite", 1).unwrap().reveal(), "whsec_ukYMsHHaaak5imuB2aFeGfXpjMM/vVswQcVTWxHJfAw=");
        let of_type = root.derive_for_job_type("invite").unwrap();
        assert_eq!(of_type, root.derive("job-type/invite", 1).unwrap());
    }
}
