//! Reads path and query string, with problems instead of the framework's plain texts.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;

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

/// The two parameters of a path, percent-decoded. Returns 404 if the path cannot be decoded, or one of them is empty.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct PathTexts(pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathTexts {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Path::<(String, String)>::from_request_parts(parts, state).await {
            Ok(Path((first, second))) if !first.is_empty() && !second.is_empty() => Ok(Self(first, second)),
            _ => Err(Problem::not_found("resource").into()),
        }
    }
}

/// The parameters of a query string by name; of two with the same name, the last one. Unused parameters are ignored.
/// Returns 400 if the query string is not UTF-8: with replacement characters, a key would be the key of another record.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct QueryText {
    values: BTreeMap<String, String>,
    repeated: BTreeSet<String>,
}

impl QueryText {
    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns true if the query string has more than one parameter with this name.
    pub fn is_repeated(&self, name: &str) -> bool {
        self.repeated.contains(name)
    }

    /// Returns the names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Returns the keys and values of an object in the style `deepObject`: `name[key]=value`. For a parameter that
    /// begins so but has another form, the key is the text after `name`, which is empty or begins with a bracket.
    pub fn members(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().filter_map(move |(parameter, value)| {
            let rest = parameter.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('['))?;
            let key = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            Some((key.unwrap_or(rest), value.as_str()))
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryText {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let is_utf8 = percent_decode_str(parts.uri.query().unwrap_or_default()).decode_utf8().is_ok();
        match Query::<Vec<(String, String)>>::from_request_parts(parts, state).await {
            Ok(Query(parameters)) if is_utf8 => {
                let (mut values, mut repeated) = (BTreeMap::new(), BTreeSet::new());
                for (name, value) in parameters {
                    if values.insert(name.clone(), value).is_some() {
                        repeated.insert(name);
                    }
                }
                Ok(Self { values, repeated })
            }
            _ => {
                let detail = "the query string cannot be read: it must be percent-encoded UTF-8";
                Err(Problem::new(Kind::MalformedQuery, detail).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[tokio::test]
    async fn a_parameter_with_two_values_is_known_as_repeated() {
        let (mut parts, ()) = Request::get("/?a=1&b=2&%61=3").body(()).unwrap().into_parts();
        let parameters = QueryText::from_request_parts(&mut parts, &()).await.unwrap();
        assert_eq!((parameters.get("a"), parameters.names().collect::<Vec<_>>()), (Some("3"), vec!["a", "b"]));
        assert_eq!(["a", "b", "c"].map(|name| parameters.is_repeated(name)), [true, false, false]);
    }

    #[tokio::test]
    async fn the_members_of_an_object_are_read_with_plain_or_encoded_brackets() {
        for (query, expected) in [
            ("m[a]=1&m%5Bb%5D=%C3%BC+2", &[("a", "1"), ("b", "\u{fc} 2")][..]),
            ("m%5Ba%5D=1&m[a]=2", &[("a", "2")]),
            ("m=1", &[("", "1")]),
            ("m[]=1", &[("", "1")]),
            ("m[a=1&m[b]c=2", &[("[a", "1"), ("[b]c", "2")]),
            ("m[a][b]=1", &[("a][b", "1")]),
            ("mm[a]=1&n[a]=1&[a]=1", &[]),
        ] {
            let (mut parts, ()) = Request::get(format!("/?{query}")).body(()).unwrap().into_parts();
            let parameters = QueryText::from_request_parts(&mut parts, &()).await.unwrap();
            assert_eq!(parameters.members("m").collect::<Vec<_>>(), expected, "{query}");
        }
    }
}
