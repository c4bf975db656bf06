//! Response headers and parameters of several functions' calls.

use utoipa::openapi::schema::{Schema, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, SchemaFormat};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// Names a header's value, so that operations can refer to it as `inline(Name)`.
macro_rules! header {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                RefOr::T(Schema::Object($schema.build()))
            }
        }

        impl ToSchema for $name {}
    };
}

header!(
    /// A path of this API.
    OnePath,
    text().format(Some(SchemaFormat::Custom("uri-reference".to_owned())))
);
header!(
    /// An absolute URL.
    OneUrl,
    text().format(Some(SchemaFormat::Custom("uri".to_owned())))
);
header!(
    /// Seconds until the next poll; see `poll_interval` in `jobs-api`.
    RetryAfterSeconds,
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(30))
);
header!(
    /// Seconds after which a refused call can be retried: at most until the end of the day.
    RefusalRetryAfter,
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(86_400))
);
header!(
    /// A strong entity tag (RFC 9110).
    EntityTag,
    text().pattern(Some("^\"[!#-~]*\"$")).examples(["\"0f1e2d3c4b5a69788796a5b4\""])
);
header!(
    /// `Link` to the next page (RFC 8288).
    NextPage,
    text().pattern(Some("^<[^>]+>; rel=\"next\"$")).examples(["</api/jobs?limit=20&cursor=MTc4>; rel=\"next\""])
);
header!(
    /// The challenge that API Gateway sends with a 401.
    BearerChallenge,
    text().examples(["Bearer"])
);
header!(
    /// The response is not cached.
    CacheNoStore,
    text().enum_values(Some(["no-store"]))
);
header!(
    /// A browser may store the response, but must revalidate it before each use.
    CacheNoCache,
    text().enum_values(Some(["private, no-cache"]))
);
header!(
    /// Any cache may store the response for five minutes.
    CachePublic,
    text().enum_values(Some(["public, max-age=300"]))
);
header!(
    /// The response depends on `Accept`.
    VaryAccept,
    text().enum_values(Some(["accept"]))
);

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// `Idempotency-Key`, as parsed by `http::idempotency`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct IdempotencyKeyHeader {
    /// Key that the client chooses for one request, for example a UUID. It is kept for 24 hours. Reuse for another
    /// request is refused with 422. Keys of jobs and of uploads are independent. A refused request does not use its
    /// key.
    #[param(
        rename = "Idempotency-Key",
        required = false,
        min_length = 1,
        max_length = 255,
        pattern = "^[!-~]([ -~]*[!-~])?$",
        example = "7f9c24e5-2f0c-4f6e-9d36-0d6f3e6b7a11"
    )]
    pub idempotency_key: String,
}

/// `cursor`, as encoded by `http::paging`.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageCursor {
    /// The `nextCursor` of the previous page.
    #[param(required = false, min_length = 1, pattern = "^[A-Za-z0-9_-]+$")]
    pub cursor: String,
}
