//! The sizes, the format and the quality of results.

use serde::{Deserialize, Serialize};

use crate::format::Format;
use crate::limits::{NAME_CHARS, RESULT_SIDE, SIZES};

/// Options of a conversion, as a client sends them.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Options {
    /// The results, 1 to 8.
    pub sizes: Vec<SizeOptions>,
    /// The format of every result.
    #[serde(default)]
    pub format: OutputFormat,
    /// The quality of JPEG results, 1 to 100. PNG and WebP results are lossless.
    #[serde(default = "default_quality")]
    pub quality: u32,
}

/// One result. It is never larger than the original.
#[derive(Clone, Eq, PartialEq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SizeOptions {
    /// The name: unique among the sizes; lower-case letters, digits and hyphens.
    pub name: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels. Without it, the height follows from the width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// The way in which the image is fitted into width and height.
    #[serde(default)]
    pub fit: Fit,
}

/// The way in which an image is fitted into a width and a height.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fit {
    /// The whole image, at most as wide and as high.
    #[default]
    Contain,
    /// The centre of the image, cut to the ratio of width and height.
    Cover,
}

/// The format of results.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputFormat {
    /// The original's format.
    #[default]
    Original,
    /// JPEG. Transparent parts become white.
    Jpeg,
    /// PNG.
    Png,
    /// Lossless WebP.
    Webp,
}

/// Options that have been checked.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct CheckedOptions(Options);

/// An error in the options: the place, the problem and the way to fix it.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct OptionsError {
    /// The place, such as `sizes[0].width`.
    pub place: String,
    /// The problem, and the way to fix it.
    pub problem: String,
}

impl Options {
    /// Checks the options.
    ///
    /// # Errors
    /// Returns every error at once.
    pub fn check(self) -> Result<CheckedOptions, Vec<OptionsError>> {
        let mut errors = Vec::new();
        if self.sizes.is_empty() || self.sizes.len() > SIZES {
            let count = self.sizes.len();
            errors.push(error("sizes", format!("There are {count} sizes. Give between 1 and {SIZES}.")));
        }
        if !(1..=100).contains(&self.quality) {
            let quality = self.quality;
            errors.push(error("quality", format!("{quality} is no quality. Use a number from 1 to 100, such as 80.")));
        }
        // Of a list that is too long, the first sizes are checked, so that the errors are few, too.
        for (index, size) in self.sizes.iter().take(SIZES).enumerate() {
            size.check(index, &self.sizes[..index], &mut errors);
        }
        if errors.is_empty() { Ok(CheckedOptions(self)) } else { Err(errors) }
    }
}

impl SizeOptions {
    fn check(&self, index: usize, before: &[Self], errors: &mut Vec<OptionsError>) {
        let mut refuse = |field, problem| errors.push(error(&format!("sizes[{index}].{field}"), problem));
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !(1..=NAME_CHARS).contains(&self.name.chars().count()) || !self.name.chars().all(allowed) {
            let rule = format!("1 to {NAME_CHARS} lower-case letters, digits and hyphens");
            refuse("name", format!("The name is not valid. Use {rule}, such as \"thumbnail\"."));
        } else if before.iter().any(|other| other.name == self.name) {
            refuse("name", format!("The name \"{}\" is used twice. Give each size its own name.", self.name));
        }
        let side = |pixels| format!("{pixels} is outside the range. Use a number of pixels from 1 to {RESULT_SIDE}.");
        if !(1..=RESULT_SIDE).contains(&self.width) {
            refuse("width", side(self.width));
        }
        match self.height {
            Some(height) if !(1..=RESULT_SIDE).contains(&height) => refuse("height", side(height)),
            None if self.fit == Fit::Cover => {
                let fix = "Add \"height\", or use \"contain\"";
                refuse("fit", format!("\"cover\" needs a width and a height. {fix}."));
            }
            _ => {}
        }
    }
}

impl CheckedOptions {
    /// Returns the options.
    pub fn get(&self) -> &Options {
        &self.0
    }

    /// Returns the quality of JPEG results.
    pub(crate) fn quality(&self) -> u8 {
        u8::try_from(self.0.quality).unwrap_or(100)
    }
}

impl OutputFormat {
    /// Returns the format of the results of an image.
    pub(crate) fn resolve(self, original: Format) -> Format {
        match self {
            Self::Original => original,
            Self::Jpeg => Format::Jpeg,
            Self::Png => Format::Png,
            Self::Webp => Format::Webp,
        }
    }
}

fn default_quality() -> u32 {
    80
}

fn error(place: &str, problem: String) -> OptionsError {
    OptionsError { place: place.to_owned(), problem }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
