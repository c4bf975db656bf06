//! Security headers of every response: only the page's own files may run, and only the required origins can be
//! contacted.

use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::settings::Settings;

/// Two years, the usual duration. Browsers ignore it on plain HTTP, as on a developer's machine.
const TRANSPORT: &str = "max-age=63072000; includeSubDomains";

/// The page needs no device.
const PERMISSIONS: &str = "accelerometer=(), camera=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), \
    payment=(), usb=()";

/// Returns the headers. A policy that is not a valid header value falls back to one that forbids everything.
///
/// Images can be `blob:` addresses, because the page reads the images of a job with the user's token.
pub(crate) fn headers(settings: &Settings) -> HeaderMap {
    let mut connect = vec!["'self'", settings.upload_origin()];
    connect.extend(settings.sign_in_origin());
    connect.dedup();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src {}; \
         form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        connect.join(" ")
    );
    let fallback = HeaderValue::from_static("default-src 'none'");
    HeaderMap::from_iter([
        (CONTENT_SECURITY_POLICY, HeaderValue::from_str(&policy).unwrap_or(fallback)),
        (STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(TRANSPORT)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("permissions-policy"), HeaderValue::from_static(PERMISSIONS)),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ])
}
