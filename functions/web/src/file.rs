//! The files of the page, as `vite build` left them in `web/page/dist`, in the binary.

use std::borrow::Cow;

use rust_embed::RustEmbed;

/// Without the page the function builds all the same, and says so when it is called.
#[derive(RustEmbed)]
#[folder = "../../web/page/dist"]
#[allow_missing = true]
struct Dist;

/// A file of the page.
pub(crate) struct PageFile {
    pub(crate) content_type: &'static str,
    /// Differs whenever the bytes do.
    pub(crate) etag: String,
    pub(crate) bytes: Cow<'static, [u8]>,
    /// The same, compressed, if that makes it smaller: the gateway compresses nothing.
    pub(crate) gzip: Option<Cow<'static, [u8]>>,
}

/// The file of that path below `dist`.
pub(crate) fn find(path: &str) -> Option<PageFile> {
    let content_type = content_type(path)?;
    let file = Dist::get(path)?;
    let etag = file.metadata.sha256_hash()[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    let gzip = Dist::get(&format!("{path}.gz")).map(|file| file.data);
    Some(PageFile { content_type, etag, bytes: file.data, gzip })
}

/// By the extension. None for what is no file of a page, such as the compressed copies.
fn content_type(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
