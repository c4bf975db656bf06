//! Names of the files that jobs of the type `image` write, in the folder of their job.
//!
//! A name consists of the item's number, the name of the size and the type: `17-320.webp`. An item that is processed again
//! replaces its own files, and no other item's.

use std::fmt;

/// Maximum characters of the name of a size.
pub const SIZE_NAME_CHARS: usize = 32;

/// The type of a file.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub enum ImageKind {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

impl ImageKind {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Jpeg, Self::Png, Self::Webp];

    /// Returns the media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Webp => "webp",
        }
    }
}

/// The name of a file. No other value can be created, so no name leads out of the folder of the images.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub struct ImageFile {
    number: u64,
    size: String,
    kind: ImageKind,
}

impl ImageFile {
    /// Creates the name of an item's file; `None` if the number is 0, or the name of the size is not valid.
    pub fn new(number: u64, size: &str, kind: ImageKind) -> Option<Self> {
        (number > 0 && is_size_name(size)).then(|| Self { number, size: size.to_owned(), kind })
    }

    /// Parses a name; `None` if no file has it.
    pub fn parse(name: &str) -> Option<Self> {
        let (stem, extension) = name.rsplit_once('.')?;
        let (number, size) = stem.split_once('-')?;
        let kind = ImageKind::ALL.into_iter().find(|kind| kind.extension() == extension)?;
        let file = Self::new(number.parse().ok()?, size, kind)?;
        // Each file has one name: a number has no sign and no leading zero.
        (file.to_string() == name).then_some(file)
    }

    /// Returns the type.
    pub const fn kind(&self) -> ImageKind {
        self.kind
    }
}

/// Returns true for 1 to [`SIZE_NAME_CHARS`] lower-case letters, digits and hyphens.
pub fn is_size_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=SIZE_NAME_CHARS).contains(&name.len()) && name.bytes().all(is_allowed)
}

impl fmt::Display for ImageFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}.{}", self.number, self.size, self.kind.extension())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_has_number_size_and_type() {
        for (number, size, kind, name) in [
            (17, "320", ImageKind::Webp, "17-320.webp"),
            (1, "a-b", ImageKind::Jpeg, "1-a-b.jpg"),
            (u64::MAX, "-", ImageKind::Png, "18446744073709551615--.png"),
        ] {
            let file = ImageFile::new(number, size, kind).unwrap();
            assert_eq!((file.to_string().as_str(), file.kind()), (name, kind));
            assert_eq!(ImageFile::parse(name), Some(file));
        }
    }

    #[test]
    fn any_other_name_is_refused() {
        let long = format!("1-{}.jpg", "a".repeat(33));
        for name in [
            "",
            "1.jpg",
            "1-.jpg",
            "0-a.jpg",
            "01-a.jpg",
            "+1-a.jpg",
            "-1-a.jpg",
            "1-a.jpeg",
            "1-a.JPG",
            "1-a",
            "1-A.jpg",
            "1-a.b.jpg",
            "1-../a.jpg",
            "1-a/b.jpg",
            "1-a%2f.jpg",
            "1-ä.jpg",
            "../1-a.jpg",
            "18446744073709551616-a.jpg",
            &long,
        ] {
            assert_eq!(ImageFile::parse(name), None, "{name}");
        }
        assert_eq!(ImageFile::new(0, "a", ImageKind::Jpeg), None);
        assert_eq!(ImageFile::new(1, "../a", ImageKind::Jpeg), None);
    }

    proptest! {
        #[test]
        fn a_parsed_name_is_one_segment_of_a_key(name in "[0-9+]{0,3}[-./a-zA-Z%]{0,8}(\\.(jpg|png|webp))?") {
            if let Some(file) = ImageFile::parse(&name) {
                prop_assert_eq!(file.to_string(), name.clone());
                prop_assert!(!name.contains('/') && !name.contains(".."), "{}", name);
            }
        }
    }
}
