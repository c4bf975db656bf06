//! The storage of the copies of an image, in the folder of its job.

use longshore::image_file::{ImageFile, ImageKind};
use longshore::ports::JobFolder;
use longshore_domain::ports::{Files, PortError};
use longshore_images::{ConvertedImage, Format, ResultImage};

use crate::answer::{Output, OutputFile};

/// The end of the storage of an image.
pub(crate) enum Stored {
    /// All copies are stored.
    Done(Output),
    /// The bucket is unavailable.
    Unavailable(PortError),
    /// The bucket refuses a copy: a defect of the deployment.
    Refused(PortError),
}

/// Writes the copies. Harmless if repeated: a copy replaces itself.
pub(crate) async fn store(files: &impl Files, folder: JobFolder<'_>, number: u64, image: ConvertedImage) -> Stored {
    let mut output = Output { width: image.original.width, height: image.original.height, files: Vec::new() };
    for result in image.results {
        match write(files, folder, number, result).await {
            Ok(file) => output.files.push(file),
            Err(error) if error.is_temporary() => return Stored::Unavailable(error),
            Err(error) => return Stored::Refused(error),
        }
    }
    Stored::Done(output)
}

async fn write(
    files: &impl Files,
    folder: JobFolder<'_>,
    number: u64,
    ResultImage { info, data }: ResultImage,
) -> Result<OutputFile, PortError> {
    let kind = kind(info.format);
    let file = ImageFile::new(number, &info.name, kind).ok_or_else(bad_name)?;
    files.write(&folder.image_key(&file), kind.content_type(), data).await?;
    let (name, content_type) = (file.to_string(), kind.content_type());
    let url = format!("/api/jobs/{}/images/{name}", folder.id);
    Ok(OutputFile { name, url, width: info.width, height: info.height, bytes: info.bytes, content_type })
}

const fn kind(format: Format) -> ImageKind {
    match format {
        Format::Jpeg => ImageKind::Jpeg,
        Format::Png => ImageKind::Png,
        Format::Webp => ImageKind::Webp,
    }
}

/// Returns the error of a name that the checks of the request and of the options let through.
fn bad_name() -> PortError {
    PortError { service: "files", operation: "write", source: "the name of the file is not valid".into() }
}
