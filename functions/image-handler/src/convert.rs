//! The conversion of an image, on a thread of its own, so that the next download continues.

use std::sync::Arc;

use longshore_images::{CheckedOptions, ConvertedImage, Rejection, convert};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Converts one image at a time.
///
/// A conversion cannot be interrupted. One that a call did not wait for continues on its thread, and keeps the next one
/// waiting: so there are never two decoded images in memory. The next call ends the process instead of waiting.
pub(crate) struct Converter {
    one: Arc<Semaphore>,
}

/// The end of a conversion.
#[derive(Debug)]
pub(crate) enum Conversion {
    /// The copies.
    Done(ConvertedImage),
    /// The image is refused.
    Refused(Rejection),
    /// The conversion panicked, which is a defect.
    Panicked,
}

impl Converter {
    pub(crate) fn new() -> Self {
        Self { one: Arc::new(Semaphore::new(1)) }
    }

    /// Returns true while a conversion runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.one.available_permits() == 0
    }

    /// Converts an image.
    pub(crate) async fn convert(&self, file: Vec<u8>, options: CheckedOptions) -> Conversion {
        let permit = Arc::clone(&self.one).acquire_owned().await;
        let converted = spawn_blocking(move || {
            let _permit = permit;
            let file = file;
            convert(&file, &options)
        });
        match converted.await {
            Ok(Ok(converted)) => Conversion::Done(converted),
            Ok(Err(rejection)) => Conversion::Refused(rejection),
            Err(_) => Conversion::Panicked,
        }
    }
}
