//! Fuzz target for the conversion of an image: every refusal has a reason, and no decoder panics.
//!
//! The input is the file. Its length selects the format of the copies. Images of more than a megapixel are only probed,
//! so that an input takes milliseconds.

use longshore_images::{ConvertedImage, Fit, Options, OutputFormat, Probed, Rejection, SizeOptions, convert, probe};

/// Maximum pixels of an image that is decoded.
const PIXELS: u64 = 1_000_000;

pub(crate) fn check(input: &[u8]) {
    let formats = [OutputFormat::Original, OutputFormat::Jpeg, OutputFormat::Png, OutputFormat::Webp];
    let size = |name: &str, height, fit| SizeOptions { name: name.to_owned(), width: 40, height, fit };
    let sizes = vec![size("contain", None, Fit::Contain), size("cover", Some(30), Fit::Cover)];
    let options = Options { sizes, format: formats[input.len() % 4], quality: 80 }.check();
    let Ok(options) = options else { panic!("the options are valid") };
    match probe(input) {
        Ok(probed) if u64::from(probed.width) * u64::from(probed.height) > PIXELS => {}
        Ok(probed) => match convert(input, &options) {
            Ok(converted) => converted_as_probed(&converted, probed),
            Err(Rejection::DecoderPanicked(format)) => panic!("the {format} decoder panicked"),
            Err(rejection) => refused(&rejection),
        },
        Err(rejection) => {
            refused(&rejection);
            assert_eq!(convert(input, &options), Err(rejection), "both refuse for the same reason");
        }
    }
}

fn refused(rejection: &Rejection) {
    let text = rejection.to_string();
    assert!(text.ends_with('.') && text.chars().count() < 600 && !text.chars().any(char::is_control), "{text}");
    assert_ne!(rejection.code(), "conversion_failed", "{text}");
}

fn converted_as_probed(converted: &ConvertedImage, probed: Probed) {
    let original = converted.original;
    assert_eq!(original.format, probed.format);
    let sides = [(probed.width, probed.height), (probed.height, probed.width)];
    assert!(sides.contains(&(original.width, original.height)), "{original:?} {probed:?}");
    assert_eq!(converted.results.len(), 2);
    for result in &converted.results {
        let again = probe(&result.data);
        let Ok(Probed { format, width, height }) = again else { panic!("a copy is refused: {again:?}") };
        assert_eq!((format, width, height), (result.info.format, result.info.width, result.info.height));
        assert!(width <= 40 && result.info.bytes == result.data.len());
    }
}
