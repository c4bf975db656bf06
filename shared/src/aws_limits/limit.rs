//! A limit, the macro that defines those of a service, and the refusal of a call beyond one.

/// One limit of a service.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Limit {
    /// The service.
    pub service: &'static str,
    /// Name of the constant.
    pub name: &'static str,
    /// The maximum value, or the minimum where the meaning says so.
    pub value: usize,
    /// Unit of the value.
    pub unit: &'static str,
    /// Description of the limit.
    pub meaning: &'static str,
    /// URL of the source.
    pub source: &'static str,
}

/// Refusal of a call, with the code and message that the service would return.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The service's error code.
    pub code: &'static str,
    /// The service's message.
    pub message: String,
}

impl Refusal {
    /// Creates a refusal with this code and message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Defines limits as constants, and the table of them.
macro_rules! limits {
    ($service:literal; $(#[doc = $meaning:literal] $name:ident = $value:expr, $unit:literal, $source:literal;)+) => {
        $(
            #[doc = $meaning]
            #[doc = concat!("\n\nSource: <", $source, ">")]
            pub const $name: usize = $value;
        )+

        pub(in crate::aws_limits) const TABLE: &[$crate::aws_limits::Limit] = &[$($crate::aws_limits::Limit {
            service: $service,
            name: stringify!($name),
            value: $name,
            unit: $unit,
            meaning: $meaning,
            source: $source,
        }),+];
    };
}
pub(super) use limits;
