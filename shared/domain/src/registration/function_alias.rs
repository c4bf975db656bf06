//! ARNs of aliases of Lambda functions, and the list of those that the stack's owner allows.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum characters of a function's name
/// (<https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html>).
const MAX_NAME: usize = 64;

/// Maximum characters of an alias
/// (<https://docs.aws.amazon.com/lambda/latest/api/API_CreateAlias.html>).
const MAX_ALIAS: usize = 128;

/// Maximum characters of a region, more than the longest one has.
const MAX_REGION: usize = 32;

/// The qualified ARN of an alias: `arn:aws:lambda:eu-central-1:123456789012:function:invite:live`.
///
/// An alias is required. It can be moved to another version without another registration, and an unqualified ARN or
/// `$LATEST` would call code that is still being edited. The parts follow
/// <https://docs.aws.amazon.com/lambda/latest/api/API_AliasConfiguration.html>; the name of an alias is not a number.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FunctionAlias(String);

/// An ARN that is not accepted, with the way to fix it.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum BadFunctionAlias {
    /// Not the ARN of a function.
    #[error(
        "the function must be the ARN of an alias: arn:aws:lambda:REGION:ACCOUNT:function:NAME:ALIAS; its {0} is not \
         valid"
    )]
    Part(&'static str),
    /// An ARN without an alias.
    #[error("the ARN names no alias; create an alias of the function, and append it to the ARN as :ALIAS")]
    Unqualified,
    /// `$LATEST`.
    #[error("$LATEST is not an alias; publish a version, and create an alias for it")]
    Latest,
    /// The number of a version.
    #[error("the ARN ends with the number of a version; create an alias for this version")]
    Version,
}

impl FunctionAlias {
    /// Parses an ARN.
    ///
    /// # Errors
    /// The first part that is not valid.
    pub fn parse(text: &str) -> Result<Self, BadFunctionAlias> {
        use BadFunctionAlias::{Latest, Part, Unqualified, Version};
        let mut parts = text.split(':');
        let mut part = |name, is_valid: fn(&str) -> bool| match parts.next() {
            Some(part) if is_valid(part) => Ok(()),
            _ => Err(Part(name)),
        };
        part("beginning", |text| text == "arn")?;
        part("partition", is_partition)?;
        part("service", |text| text == "lambda")?;
        part("region", is_region)?;
        part("account", |text| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()))?;
        part("resource type", |text| text == "function")?;
        part("function name", |text| is_word(text, MAX_NAME))?;
        match (parts.next(), parts.next()) {
            (None, _) => Err(Unqualified),
            (Some("$LATEST"), None) => Err(Latest),
            (Some(alias), None) if !is_word(alias, MAX_ALIAS) => Err(Part("alias")),
            (Some(alias), None) if alias.bytes().all(|byte| byte.is_ascii_digit()) => Err(Version),
            (Some(_), None) => Ok(Self(text.to_owned())),
            (Some(_), Some(_)) => Err(Part("end")),
        }
    }

    /// Returns the ARN.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the function.
    pub fn function_name(&self) -> &str {
        self.0.split(':').nth(6).unwrap_or_default()
    }
}

/// Returns true for `aws` and `aws-…`, such as `aws-cn`.
fn is_partition(text: &str) -> bool {
    let rest = text.strip_prefix("aws");
    rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
        && (text == "aws" || text.starts_with("aws-"))
}

fn is_region(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= MAX_REGION
        && text.bytes().all(is_allowed)
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.ends_with(|last: char| last.is_ascii_digit())
}

fn is_word(text: &str, max: usize) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=max).contains(&text.len()) && text.bytes().all(is_allowed)
}

impl TryFrom<String> for FunctionAlias {
    type Error = BadFunctionAlias;

    fn try_from(text: String) -> Result<Self, BadFunctionAlias> {
        Self::parse(&text)
    }
}

impl From<FunctionAlias> for String {
    fn from(alias: FunctionAlias) -> Self {
        alias.0
    }
}

impl fmt::Display for FunctionAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The functions that registrations may name: a list that the stack's owner sets. An empty list permits none.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct AllowedFunctions {
    list: Vec<FunctionAlias>,
    /// Names of this stack's own functions.
    own: Vec<String>,
}

impl AllowedFunctions {
    /// The stack's functions, without the name of the stack and the hyphen before them. None of them is a handler.
    pub const OWN: [&str; 13] = [
        "call-handler",
        "complete-job",
        "create-job",
        "deliver",
        "image-handler",
        "inspect",
        "jobs-api",
        "operations",
        "prepare",
        "process-item",
        "sweep",
        "upload",
        "web",
    ];

    /// Reads a list that is separated by commas.
    ///
    /// # Errors
    /// The first entry that is not the ARN of an alias.
    pub fn read(list: &str) -> Result<Self, BadFunctionAlias> {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        Ok(Self { list: entries.map(FunctionAlias::parse).collect::<Result<_, _>>()?, own: Vec::new() })
    }

    /// Excludes the functions of this stack.
    #[must_use]
    pub fn without_stack(self, stack: &str) -> Self {
        let own = Self::OWN.into_iter().map(|function| format!("{stack}-{function}")).collect();
        Self { own, ..self }
    }

    /// Returns true if and only if the list has exactly this alias, and the function is not one of this stack.
    pub fn permits(&self, alias: &FunctionAlias) -> bool {
        self.list.contains(alias) && !self.own.iter().any(|own| own == alias.function_name())
    }
}

#[cfg(test)]
#[path = "function_alias_tests.rs"]
mod tests;
