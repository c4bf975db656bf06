//! An upload as an item, with the names of its fields; its id is in the key only.

use longshore_domain::ids::FileGuid;
use longshore_domain::ports::Upload;

use super::item::{Item, ItemError, text};
use super::keys::Key;

/// The field that is stored as part of the key.
const ID: &str = "fileGuid";

/// Returns the item of an upload. It has no `createdAt`, so it is not on the index of a tenant's jobs.
pub(super) fn to_item(upload: &Upload) -> Result<Item, ItemError> {
    let mut item: Item = serde_dynamo::to_item(upload)?;
    item.remove(ID);
    item.extend(Key::upload(upload.file_guid).attributes());
    Ok(item)
}

/// Returns the upload of an item.
pub(super) fn from_item(id: FileGuid, mut item: Item) -> Result<Upload, ItemError> {
    item.insert(ID.into(), text(id.to_string()));
    Ok(serde_dynamo::from_item(item)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use longshore_domain::parts::Multipart;
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::super::item::number;
    use super::*;

    fn small() -> Upload {
        Upload {
            file_guid: FileGuid::generate(),
            tenant: TenantId::from_static("t"),
            key: "uploads/t/1".into(),
            file_name: "a.csv".into(),
            content_type: "text/csv".into(),
            size_bytes: 7,
            sha256: None,
            multipart: None,
            promised_at: Timestamp(1_000),
            expires_at: 2,
        }
    }

    #[test]
    fn an_item_has_these_attributes_and_no_null() {
        let multipart = Some(Multipart { id: "m".into(), part_bytes: 5 });
        let large = Upload { sha256: Some("s".into()), multipart, ..small() };
        let key = format!("UPLOAD#{}", large.file_guid);
        let stored = [
            ("PK", text(&key)),
            ("SK", text("UPLOAD")),
            ("tenant", text("t")),
            ("key", text("uploads/t/1")),
            ("fileName", text("a.csv")),
            ("contentType", text("text/csv")),
            ("sizeBytes", number(7)),
            ("sha256", text("s")),
            ("multipartId", text("m")),
            ("partBytes", number(5)),
            ("promisedAt", number(1_000)),
            ("expiresAt", number(2)),
        ];
        let stored: BTreeMap<_, _> = stored.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!(to_item(&large).unwrap().into_iter().collect::<BTreeMap<_, _>>(), stored);
        let absent = ["sha256", "multipartId", "partBytes"];
        assert!(to_item(&small()).unwrap().keys().all(|name| !absent.contains(&name.as_str())));
    }

    #[test]
    fn an_upload_of_this_or_an_earlier_version_is_read_back() {
        let multipart = Some(Multipart { id: "m".into(), part_bytes: 5 });
        for upload in [small(), Upload { sha256: Some("s".into()), ..small() }, Upload { multipart, ..small() }] {
            assert_eq!(from_item(upload.file_guid, to_item(&upload).unwrap()).unwrap(), upload);
        }
        let upload = small();
        let mut older = to_item(&upload).unwrap();
        older.remove("promisedAt");
        let read = from_item(upload.file_guid, older).unwrap();
        assert_eq!(read, Upload { promised_at: Timestamp(0), ..upload });
    }
}
