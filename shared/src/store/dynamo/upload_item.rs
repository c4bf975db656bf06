//! An upload as an item.

use longshore_domain::ids::FileGuid;
use longshore_domain::parts::Multipart;
use longshore_domain::ports::Upload;
use longshore_domain::time_stamp::Timestamp;

use super::item::{Item, ItemError, number, read_number, read_text, text, time};
use super::keys::Key;

/// Returns the item of an upload. It has no `createdAt`, so it is not on the index of a tenant's jobs.
pub(super) fn to_item(upload: &Upload) -> Item {
    let mut item = Key::upload(upload.file_guid).attributes();
    item.insert("tenant".into(), text(&upload.tenant));
    item.insert("key".into(), text(&upload.key));
    item.insert("fileName".into(), text(&upload.file_name));
    item.insert("contentType".into(), text(&upload.content_type));
    item.insert("sizeBytes".into(), number(upload.size_bytes));
    if let Some(sha256) = &upload.sha256 {
        item.insert("sha256".into(), text(sha256));
    }
    if let Some(multipart) = &upload.multipart {
        item.insert("multipartId".into(), text(&multipart.id));
        item.insert("partBytes".into(), number(multipart.part_bytes));
    }
    item.insert("promisedAt".into(), time(upload.promised_at));
    item.insert("expiresAt".into(), number(upload.expires_at));
    item
}

/// Returns the upload of an item.
pub(super) fn from_item(id: FileGuid, item: &Item) -> Result<Upload, ItemError> {
    Ok(Upload {
        file_guid: id,
        tenant: read_text(item, "tenant")?.into(),
        key: read_text(item, "key")?.into(),
        file_name: read_text(item, "fileName")?.into(),
        content_type: read_text(item, "contentType")?.into(),
        size_bytes: read_number(item, "sizeBytes")?,
        sha256: item.contains_key("sha256").then(|| read_text(item, "sha256")).transpose()?.map(str::to_owned),
        multipart: item.contains_key("multipartId").then(|| multipart(item)).transpose()?,
        // Uploads of an earlier version have none; only new promises are counted.
        promised_at: Timestamp(read_number(item, "promisedAt").unwrap_or_default()),
        expires_at: read_number(item, "expiresAt")?,
    })
}

fn multipart(item: &Item) -> Result<Multipart, ItemError> {
    Ok(Multipart { id: read_text(item, "multipartId")?.into(), part_bytes: read_number(item, "partBytes")? })
}
