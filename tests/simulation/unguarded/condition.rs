//! The removed condition, and a service without it.

use std::cell::RefCell;

thread_local!(static WITHOUT: RefCell<Option<String>> = const { RefCell::new(None) });

/// Removes this condition or layer for this thread.
pub(crate) fn remove_condition(name: Option<&str>) {
    WITHOUT.set(name.map(str::to_owned));
}

/// Returns true if this condition or layer is removed.
pub(crate) fn without(name: &str) -> bool {
    WITHOUT.with_borrow(|without| without.as_deref() == Some(name))
}

/// A service from which a condition can be removed.
#[derive(Clone, Default)]
pub(crate) struct Unguarded<T>(pub(crate) T);

/// Length of the attempt in the names of work files and in tokens.
pub(super) const NONCE: usize = 8;

/// Forwards calls unchanged.
macro_rules! as_is {
    ($(async fn $name:ident(&self $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {
        $(async fn $name(&self $(, $arg: $type)*) -> $result {
            self.0.$name($($arg),*).await
        })*
    };
}
pub(crate) use as_is;
