//! Limits of S3, and the checks of keys and multipart uploads.

use super::Refusal;

super::limit::limits! {
    "S3";
    /// Length of an object's key in UTF-8.
    KEY_BYTES = 1024, "bytes", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html";
    /// Size of an object that is put in one call.
    PUT_BYTES = 5 * 1024 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html";
    /// Smallest size of a part that is not the last one.
    PART_BYTES_MIN = 5 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html";
    /// Size of a part.
    PART_BYTES_MAX = 5 * 1024 * 1024 * 1024, "bytes", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html";
    /// Parts of an upload; their numbers are 1 to this.
    PARTS = 10_000, "parts", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html";
    /// Parts in one page of a list.
    LISTED_PARTS = 1000, "parts", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html";
    /// Objects in one call that deletes several.
    DELETED_OBJECTS = 1000, "objects", "https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html";
    /// Size of an object's own metadata, names and values together.
    METADATA_BYTES = 2048, "bytes", "https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html";
}

/// Checks the key of an object.
///
/// # Errors
/// The refusal that S3 would return.
pub fn check_key(key: &str) -> Result<(), Refusal> {
    match key.len() {
        0 => Err(Refusal::new("InvalidRequest", "The object key must not be empty.")),
        1..=KEY_BYTES => Ok(()),
        _ => Err(Refusal::new("KeyTooLongError", "Your key is too long")),
    }
}

/// Checks the number of a part.
///
/// # Errors
/// The refusal that S3 would return.
pub fn check_part_number(number: usize) -> Result<(), Refusal> {
    if (1..=PARTS).contains(&number) {
        return Ok(());
    }
    let message = format!("Part number must be an integer between 1 and {PARTS}, inclusive");
    Err(Refusal::new("InvalidArgument", message))
}

/// Checks the parts of an object, each by its number and its size, in the order of the call.
///
/// # Errors
/// The refusal that S3 would return.
pub fn check_parts(parts: &[(usize, u64)]) -> Result<(), Refusal> {
    if parts.is_empty() {
        let message = "The XML you provided was not well-formed or did not validate against our published schema";
        return Err(Refusal::new("MalformedXML", message));
    }
    parts.iter().try_for_each(|(number, _)| check_part_number(*number))?;
    if !parts.is_sorted_by(|(one, _), (next, _)| one < next) {
        let message = "The list of parts was not in ascending order. Parts must be ordered by part number.";
        return Err(Refusal::new("InvalidPartOrder", message));
    }
    let small = |(_, size): &(usize, u64)| *size < PART_BYTES_MIN as u64;
    if parts[..parts.len() - 1].iter().any(small) {
        let message = "Your proposed upload is smaller than the minimum allowed size";
        return Err(Refusal::new("EntityTooSmall", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: u64 = PART_BYTES_MIN as u64;

    #[test]
    fn a_key_has_1_to_1024_bytes() {
        for (key, fine) in
            [(String::new(), false), ("x".repeat(1024), true), ("x".repeat(1025), false), ("ü".repeat(513), false)]
        {
            assert_eq!(check_key(&key).is_ok(), fine, "{}", key.len());
        }
    }

    #[test]
    fn parts_must_be_large_enough_in_order_and_not_too_many() {
        let many: Vec<_> = (1..=PARTS + 1).map(|number| (number, MIN)).collect();
        for (parts, code) in [
            (&[][..], Some("MalformedXML")),
            (&[(1, 0)], None),
            (&[(1, MIN), (2, 1)], None),
            (&[(1, MIN - 1), (2, MIN)], Some("EntityTooSmall")),
            (&[(2, MIN), (1, MIN)], Some("InvalidPartOrder")),
            (&[(1, MIN), (1, MIN)], Some("InvalidPartOrder")),
            (&[(0, MIN)], Some("InvalidArgument")),
            (&many[..PARTS], None),
            (&many, Some("InvalidArgument")),
        ] {
            assert_eq!(check_parts(parts).err().map(|refusal| refusal.code), code, "{:?}", parts.first());
        }
    }
}
