//! Reads path and query string, with problems instead of the framework's plain texts.

use std::collections::BTreeMap;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;

use super::Failure;
use crate::problem::{Kind, Problem};

/// The only parameter of a path, percent-decoded. Returns 404 if the path cannot be decoded, or the parameter is empty.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct PathText(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(text)) if !text.is_empty() => Ok(Self(text)),
            _ => Err(Problem::not_found("resource").into()),
        }
    }
}

/// The parameters of a query string by name; of two with the same name, the last one. Unused parameters are ignored.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct QueryText(BTreeMap<String, String>);

impl QueryText {
    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryText {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(_) => {
                let detail = "the query string cannot be read";
                Err(Problem::new(Kind::MalformedQuery, detail).into())
            }
        }
    }
}
