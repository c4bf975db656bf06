//! Responses with a file: compressed if the browser accepts it, and 304 if the browser already has the file.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use rust_embed::RustEmbed;

/// Page that is returned if the binary contains no page. Without scripts and styles, as the policy requires.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><title>Longshore</title><h1>The page is not built</h1>\
    <p>This function was built without the page. Build the page with <code>npm ci && npm run build --workspace \
    page</code> in the folder <code>web</code>, then build the function again. The API is available: see the \
    <a href=\"/api/docs\">API reference</a>.</p></html>";

/// Returns the file, or 304 if the browser has it already.
pub(crate) fn file(file: &PageFile, request: &HeaderMap, cache: &'static str) -> Response {
    let gzip = file.gzip.as_ref().filter(|_| accepts_gzip(request));
    // The compressed copy has its own tag, because its bytes differ.
    let etag = format!("\"{}{}\"", file.etag, if gzip.is_some() { "-gzip" } else { "" });
    let fixed = [(header::CACHE_CONTROL, cache), (header::VARY, "accept-encoding")];
    let mut response = if has(request, &etag) {
        (StatusCode::NOT_MODIFIED, fixed).into_response()
    } else {
        let body = gzip.unwrap_or(&file.bytes).clone().into_owned();
        (fixed, [(header::CONTENT_TYPE, file.content_type)], body).into_response()
    };
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    if gzip.is_some() && response.status() == StatusCode::OK {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// 503: the page may be available after the next deployment.
pub(crate) fn not_built() -> Response {
    let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    (StatusCode::SERVICE_UNAVAILABLE, headers, NOT_BUILT).into_response()
}

fn accepts_gzip(request: &HeaderMap) -> bool {
    words(request, header::ACCEPT_ENCODING).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim() == "gzip" && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

fn has(request: &HeaderMap, etag: &str) -> bool {
    // Compared weakly, as for every GET.
    words(request, header::IF_NONE_MATCH).any(|known| known == "*" || known.trim_start_matches("W/") == etag)
}

fn words(request: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    request.get_all(name).iter().filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(',')).map(str::trim)
}

/// The built page. The function also builds without it, and then returns [`NOT_BUILT`].
#[derive(RustEmbed)]
#[folder = "../../web/page/dist"]
#[allow_missing = true]
struct Dist;

/// A file of the page.
pub(crate) struct PageFile {
    pub(crate) content_type: &'static str,
    /// Entity tag: changes whenever the bytes change.
    pub(crate) etag: String,
    pub(crate) bytes: Cow<'static, [u8]>,
    /// Compressed bytes, if they are smaller: the gateway does not compress.
    pub(crate) gzip: Option<Cow<'static, [u8]>>,
}

/// Returns the file with this path below `dist`.
pub(crate) fn find(path: &str) -> Option<PageFile> {
    let content_type = content_type(path)?;
    let file = Dist::get(path)?;
    let etag = HEXLOWER.encode(&file.metadata.sha256_hash()[..12]);
    let gzip = Dist::get(&format!("{path}.gz")).map(|file| file.data);
    Some(PageFile { content_type, etag, bytes: file.data, gzip })
}

/// Returns the media type by the extension, or `None` for other files, such as the compressed copies.
fn content_type(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
