//! Registered types that belong to the deployment itself, such as `image`. They are in no store, and no call changes them.

use longshore::handler::Registry;
use longshore_domain::ports::Page;
use longshore_domain::registration::{StoredRegistration, TypeName};

/// Returns the deployment's own type of this name.
pub(super) fn find(registry: &Registry, name: &str) -> Option<StoredRegistration> {
    let active = registry.find(name)?.registration()?.clone();
    Some(StoredRegistration { active: Some(active), candidate: None })
}

/// A job type, and its origin.
pub(super) enum Listed {
    /// One of the deployment itself. No call can change it, so its target is not shown.
    Own(StoredRegistration),
    /// One that an operator has registered.
    Stored(StoredRegistration),
}

impl Listed {
    fn name(&self) -> Option<&TypeName> {
        let (Self::Own(registration) | Self::Stored(registration)) = self;
        registration.shown().map(|shown| &shown.name)
    }
}

/// Adds the deployment's own types to a page of the stored ones that begins after `after`. It has at most `limit` types.
pub(super) fn merge(
    stored: Page<StoredRegistration>,
    registry: &Registry,
    after: Option<&TypeName>,
    limit: usize,
) -> Page<Listed> {
    let end = stored.next.clone();
    let is_on_page =
        |name: &str| after.is_none_or(|after| name > after.as_str()) && end.as_deref().is_none_or(|end| name <= end);
    let own = registry.names().into_iter().filter(|name| is_on_page(name));
    let own = own.filter_map(|name| find(registry, name)).map(Listed::Own);
    let mut items: Vec<_> = stored.items.into_iter().map(Listed::Stored).chain(own).collect();
    items.sort_by(|one, other| one.name().cmp(&other.name()));
    let mut next = stored.next;
    if items.len() > limit {
        items.truncate(limit);
        next = items.last().and_then(Listed::name).map(ToString::to_string);
    }
    Page { items, next }
}

#[cfg(test)]
mod tests {
    use longshore::job_types::image::image_registration;
    use longshore::remote::RegisteredType;
    use longshore_domain::registration::FunctionAlias;

    use super::*;

    fn stored(name: &str) -> StoredRegistration {
        let mut active = image_registration(alias());
        active.registration.name = TypeName::parse(name).unwrap();
        StoredRegistration { active: Some(active), candidate: None }
    }

    fn alias() -> FunctionAlias {
        FunctionAlias::parse("arn:aws:lambda:eu-central-1:123456789012:function:prod-image-handler:live").unwrap()
    }

    /// Reads all pages as clients do.
    fn names(of_store: &[&str], limit: usize) -> Vec<String> {
        let registry = Registry::default().with_registered(RegisteredType::new(image_registration(alias())));
        let (mut names, mut after) = (Vec::new(), None::<TypeName>);
        loop {
            let later = of_store.iter().filter(|name| after.as_ref().is_none_or(|after| **name > after.as_str()));
            let items: Vec<_> = later.clone().take(limit).map(|name| stored(name)).collect();
            let next = later.clone().nth(limit).and(later.clone().nth(limit - 1)).map(ToString::to_string);
            let page = merge(Page { items, next }, &registry, after.as_ref(), limit);
            assert!(page.items.len() <= limit);
            names.extend(page.items.iter().filter_map(Listed::name).map(ToString::to_string));
            let Some(next) = page.next else { return names };
            after = Some(TypeName::parse(&next).unwrap());
        }
    }

    #[test]
    fn an_own_type_is_listed_once_among_the_stored_ones_with_any_page_size() {
        let rows: [&[&str]; 4] = [&[], &["a", "b", "c"], &["invite", "mail"], &["a", "b", "invite", "mail", "z"]];
        for of_store in rows {
            let mut expected: Vec<_> = of_store.iter().copied().chain(["image"]).collect();
            expected.sort_unstable();
            for limit in 1..=7 {
                assert_eq!(names(of_store, limit), expected, "{limit}");
            }
        }
    }

    #[test]
    fn a_type_in_rust_is_not_registered() {
        let registry = Registry::default().with_registered(RegisteredType::new(image_registration(alias())));
        assert_eq!((find(&registry, "image").is_some(), find(&registry, "import")), (true, None));
    }
}
