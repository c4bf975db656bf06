//! Signatures of requests, as Standard Webhooks 1.0 defines them: `v1`, HMAC-SHA256 of `{id}.{timestamp}.{body}`.
//!
//! The crate `standardwebhooks` is not used: its one release (1.0.1 of 2024) signs with one secret at a time, has no key
//! of an endpoint, and adds a second implementation of SHA-256 and an old base64. `hmac` and `sha2` are in the binary
//! already. Its test vectors are in the tests below.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use hyper::http::HeaderValue;
use sha2::Sha256;

use crate::secret::{Secrets, SigningSecret};

/// Maximum bytes of a message's id.
const ID_BYTES: usize = 256;

/// The id of a message, the same for every attempt at it. Receivers use it as an idempotency key.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct MessageId(String);

/// An id that cannot be signed.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("A message id has 1 to {ID_BYTES} letters, digits, \"-\" and \"_\", and this one does not: {0:?}.")]
pub struct MessageIdError(String);

/// The headers of a signed request.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct SignatureHeaders {
    /// `webhook-id`
    pub(crate) id: HeaderValue,
    /// `webhook-timestamp`
    pub(crate) timestamp: HeaderValue,
    /// `webhook-signature`
    pub(crate) signature: HeaderValue,
}

impl MessageId {
    /// Checks an id. It has no full stop, which separates the parts of the signed text: with one, parts of the id could
    /// pass as the timestamp or the body.
    ///
    /// # Errors
    /// Returns an error if the id is empty, too long or has another character.
    pub fn new(id: &str) -> Result<Self, MessageIdError> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !id.is_empty() && id.len() <= ID_BYTES && id.bytes().all(known) {
            return Ok(Self(id.to_owned()));
        }
        Err(MessageIdError(id.chars().take(ID_BYTES).collect()))
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Signs an attempt at a message: one signature per secret, separated by a space. `None` only if a value were not a
/// valid header, which an id, a number and base64 always are.
pub(crate) fn sign(secrets: &Secrets, id: &MessageId, unix_seconds: u64, body: &[u8]) -> Option<SignatureHeaders> {
    let signatures: Vec<_> = secrets.iter().map(|secret| v1(secret, id, unix_seconds, body)).collect();
    Some(SignatureHeaders {
        id: HeaderValue::from_str(id.as_str()).ok()?,
        timestamp: HeaderValue::from(unix_seconds),
        signature: HeaderValue::try_from(signatures.join(" ")).ok()?,
    })
}

fn v1(secret: &SigningSecret, id: &MessageId, unix_seconds: u64, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new(&secret.padded().into());
    mac.update(format!("{}.{unix_seconds}.", id.as_str()).as_bytes());
    mac.update(body);
    format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secrets::{One, Rotating};

    /// The vector of the specification's reference libraries.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const SECONDS: u64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn signature(secrets: &Secrets, body: &[u8]) -> String {
        let headers = sign(secrets, &MessageId::new(ID).unwrap(), SECONDS, body).unwrap();
        headers.signature.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_signature_is_that_of_the_reference_libraries() {
        let secrets = One(SigningSecret::parse(SECRET).unwrap());
        let headers = sign(&secrets, &MessageId::new(ID).unwrap(), SECONDS, BODY).unwrap();
        assert_eq!(headers.id, ID);
        assert_eq!(headers.timestamp, "1614265330");
        assert_eq!(headers.signature, SIGNATURE);
    }

    #[test]
    fn two_secrets_give_two_signatures_of_which_the_first_is_the_new_one() {
        let old = SigningSecret::parse(SECRET).unwrap();
        let new = SigningSecret::from_bytes(&[9; 64]).unwrap();
        let alone = signature(&One(new.clone()), BODY);
        assert_eq!(signature(&Rotating { new, old }, BODY), format!("{alone} {SIGNATURE}"));
    }

    #[test]
    fn another_body_has_another_signature() {
        let secrets = One(SigningSecret::parse(SECRET).unwrap());
        assert_ne!(signature(&secrets, b"{}"), signature(&secrets, b"{} "));
    }

    #[test]
    fn an_id_has_no_full_stop_and_nothing_that_a_header_cannot_hold() {
        for (id, valid) in [
            (ID, true),
            ("0198c5a0-1_12-3-40", true),
            ("0198-12.3", false),
            ("", false),
            ("a b", false),
            ("a\r\nb", false),
            ("ä", false),
        ] {
            assert_eq!(MessageId::new(id).is_ok(), valid, "{id}");
        }
        assert!(MessageId::new(&"a".repeat(256)).is_ok());
        assert!(MessageId::new(&"a".repeat(257)).is_err());
    }
}
