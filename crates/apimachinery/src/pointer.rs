//! JSON pointers (RFC 6901) in one place: how a key becomes a reference token, and back.

use std::borrow::Cow;

pub use kube_json::unescape;

/// Appends `/` and the reference token of `key`: `~` is `~0`, `/` is `~1`.
pub fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    // As it is, in nearly all cases.
    if !key.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        pointer.push_str(key);
        return;
    }
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The pointer of the member `key` below `parent`.
///
/// ```
/// assert_eq!(apimachinery::pointer::child("/metadata/labels", "a/b"), "/metadata/labels/a~1b");
/// ```
pub fn child(parent: &str, key: &str) -> String {
    let mut pointer = String::with_capacity(parent.len().saturating_add(key.len()).saturating_add(1));
    pointer.push_str(parent);
    push(&mut pointer, key);
    pointer
}

/// The rest of a pointer that is `outer` or leads to something inside it.
///
/// ```
/// use apimachinery::pointer::inside;
///
/// assert_eq!(inside("/items/1/spec", "/items/1"), Some("/spec"));
/// assert_eq!(inside("/items/10/spec", "/items/1"), None);
/// ```
pub fn inside<'p>(pointer: &'p str, outer: &str) -> Option<&'p str> {
    let rest = pointer.strip_prefix(outer)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// The keys and indexes along a pointer, unescaped.
pub fn tokens(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescape)
}

/// A JSON pointer as people write field paths.
///
/// ```
/// assert_eq!(apimachinery::pointer::dotted("/spec/listeners/0/name"), "spec.listeners[0].name");
/// ```
pub fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for token in tokens(pointer) {
        if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push('[');
            path.push_str(&token);
            path.push(']');
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&token);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_key_comes_back_from_its_pointer(keys in prop::collection::vec(".*", 0..5)) {
            let mut pointer = String::new();
            for key in &keys {
                push(&mut pointer, key);
            }
            prop_assert_eq!(tokens(&pointer).collect::<Vec<_>>(), keys);
        }
    }

    #[test]
    fn an_escaped_tilde_before_a_one_is_no_slash() {
        assert_eq!(child("", "~1"), "/~01");
        assert_eq!(unescape("~01"), "~1");
    }
}
