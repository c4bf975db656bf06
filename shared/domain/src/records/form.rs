//! The forms of files that are converted before they are split, by their first bytes.

use memchr::memmem;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file that must be converted before it can be split.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = FileForm)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One or several gzip members, [RFC 1952](https://www.rfc-editor.org/rfc/rfc1952).
    Gzip,
    /// One or several Zstandard frames, [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878).
    Zstd,
    /// A ZIP archive that is no workbook.
    Zip,
    /// A workbook (`.xlsx`), or an encrypted or old one, which is refused with its reason.
    Workbook,
    /// Text in UTF-16 with a byte order mark.
    Utf16,
}

/// The first bytes of each form. UTF-16 with the little-endian mark is told from UTF-32 below.
const SIGNATURES: [(&[u8], Form); 7] = [
    (b"\x1f\x8b", Form::Gzip),
    (b"\x28\xb5\x2f\xfd", Form::Zstd),
    (b"PK\x03\x04", Form::Zip),
    (b"PK\x05\x06", Form::Zip),
    (b"\xd0\xcf\x11\xe0", Form::Workbook),
    (b"\xfe\xff", Form::Utf16),
    (b"\xff\xfe", Form::Utf16),
];

/// The bytes after the first one of a skippable frame, which some programs put before the first frame of Zstandard. The
/// first byte is 0x50 to 0x5f.
const SKIPPABLE: &[u8] = b"\x2a\x4d\x18";

const UTF32_MARK: &[u8] = b"\xff\xfe\0\0";

/// Near the start of a workbook's archive: a part of Excel's format, or the type of OpenDocument, which is refused with
/// its reason.
const WORKBOOK_MARKS: [&[u8]; 2] = [b"[Content_Types].xml", b"mimetypeapplication/vnd.oasis.opendocument."];

impl Form {
    /// Bytes at the start of a file by which its form is known.
    pub const HEAD_BYTES: u64 = 64 << 10;

    /// Returns the form of a file with these first bytes, up to [`Form::HEAD_BYTES`]. `None` if it is none of the
    /// forms: text that can be split as it is, or a file that no job can read.
    pub fn detect(head: &[u8]) -> Option<Self> {
        if matches!(head, [0x50..=0x5f, rest @ ..] if rest.starts_with(SKIPPABLE)) {
            return Some(Self::Zstd);
        }
        let (_, form) = SIGNATURES.iter().find(|(signature, _)| head.starts_with(signature))?;
        match form {
            Self::Zip if WORKBOOK_MARKS.iter().any(|mark| memmem::find(head, mark).is_some()) => Some(Self::Workbook),
            Self::Utf16 if head.starts_with(UTF32_MARK) => None,
            form => Some(*form),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn a_form_is_known_by_its_first_bytes() {
        for (head, expected) in [
            (&b"\x1f\x8b\x08"[..], Some(Form::Gzip)),
            (b"\x28\xb5\x2f\xfd\0", Some(Form::Zstd)),
            (b"\x50\x2a\x4d\x18\0", Some(Form::Zstd)),
            (b"\x5f\x2a\x4d\x18\0", Some(Form::Zstd)),
            (b"\x60\x2a\x4d\x18\0", None),
            (b"PK\x03\x04 mimetypeapplication/vnd.oasis.opendocument.spreadsheet", Some(Form::Workbook)),
            (b"PK\x03\x04 a.csv", Some(Form::Zip)),
            (b"PK\x03\x04 [Content_Types].xml", Some(Form::Workbook)),
            (b"\xd0\xcf\x11\xe0\xa1", Some(Form::Workbook)),
            (b"\xff\xfea\0", Some(Form::Utf16)),
            (b"\xfe\xff\0a", Some(Form::Utf16)),
            (b"\xff\xfe\0\0a", None),
            (b"\xef\xbb\xbfa,b", None),
            (b"PKW,a", None),
            (b"%PDF-1.7", None),
            (b"", None),
        ] {
            assert_eq!(Form::detect(head), expected, "{head:?}");
        }
    }
}
