//! The files of the page, as built by `vite build` in `web/page/dist`, embedded in the binary.

use std::borrow::Cow;

use rust_embed::RustEmbed;

/// The function also builds without the page, and then reports at each call that the page is missing.
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
    let etag = file.metadata.sha256_hash()[..12].iter().map(|byte| format!("{byte:02x}")).collect();
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
