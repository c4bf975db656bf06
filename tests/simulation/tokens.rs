//! Client request tokens of transactions, as in DynamoDB.
//!
//! A transaction that is repeated with its token within ten minutes returns success and has no effect. A different body
//! with the same token is an `IdempotentParameterMismatch`. The SDK creates a token for each call, so its retries of a
//! call whose reply was lost are such repetitions.
//! <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use longshore_domain::timestamp::Timestamp;

/// Validity of a token, in milliseconds.
const VALIDITY_MS: i64 = 600_000;

/// Used tokens, each with the hash of the body and the time.
#[derive(Debug, Default)]
pub(crate) struct Tokens(BTreeMap<u64, (u64, i64)>);

/// Result of the lookup of a transaction's token.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum TokenUse {
    /// The token is new, or has expired: the transaction is executed.
    First,
    /// The transaction was executed before: it returns success, and has no effect.
    Repeated,
    /// Another transaction was executed with this token.
    Mismatch,
}

impl Tokens {
    /// Looks up the token of a transaction with this body, and records it.
    pub(crate) fn look_up(&mut self, token: u64, body: &impl Hash, now: Timestamp) -> TokenUse {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let body = hasher.finish();
        match self.0.get(&token).filter(|(_, at)| now.0 - at < VALIDITY_MS) {
            Some((before, _)) if *before == body => TokenUse::Repeated,
            Some(_) => TokenUse::Mismatch,
            None => {
                self.0.insert(token, (body, now.0));
                TokenUse::First
            }
        }
    }
}

#[test]
fn a_token_is_valid_for_ten_minutes_and_for_one_body() {
    let mut tokens = Tokens::default();
    for (token, body, at, expected) in [
        (1, "a", 0, TokenUse::First),
        (1, "a", 599_999, TokenUse::Repeated),
        (1, "b", 599_999, TokenUse::Mismatch),
        (2, "b", 599_999, TokenUse::First),
        (1, "b", 600_000, TokenUse::First),
        (1, "a", 600_000, TokenUse::Mismatch),
    ] {
        assert_eq!(tokens.look_up(token, &body, Timestamp(at)), expected, "{token} {body} {at}");
    }
}
