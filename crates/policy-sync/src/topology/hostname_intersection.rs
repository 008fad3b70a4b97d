//! Hostname intersection: whether a listener and a route have a hostname in common.

/// Whether a listener's hostname and a route's hostnames have a host in common. None on either side is any
/// (docs/systems/gateway-api.md#hostname-intersection).
pub(super) fn hostnames_meet(listener: Option<&str>, route: &[impl AsRef<str>]) -> bool {
    let Some(listener) = listener else { return true };
    route.is_empty() || route.iter().any(|hostname| two_meet(listener, hostname.as_ref()))
}

/// The hosts that a listener and a route have in common, in lower case; `*` is any. Of a name and a wildcard that covers it,
/// or of two wildcards, it is the narrower one.
pub(super) fn common_hostnames(listener: Option<&str>, route: &[impl AsRef<str>]) -> Vec<String> {
    let listener = listener.unwrap_or("*");
    let any = route.is_empty().then_some("*");
    let hostnames = route.iter().map(AsRef::as_ref).chain(any);
    let mut common: Vec<String> = hostnames
        .filter(|hostname| two_meet(listener, hostname))
        .map(|hostname| {
            let is_narrower = match (listener.strip_prefix('*'), hostname.strip_prefix('*')) {
                (Some(own), Some(other)) => own.len() > other.len(),
                // A full name is narrower than a wildcard that covers it.
                (own, _) => own.is_none(),
            };
            let narrower = if is_narrower { listener } else { hostname };
            narrower.to_ascii_lowercase()
        })
        .collect();
    common.sort_unstable();
    common.dedup();
    common
}

/// Whether a hostname of a listener or a route is this host, in lower case, or covers it.
pub(crate) fn covers(hostname: &str, host: &str) -> bool {
    match hostname.strip_prefix('*') {
        Some(suffix) => under(host, suffix),
        None => hostname.eq_ignore_ascii_case(host),
    }
}

/// A wildcard stands for one or more whole labels at the front.
fn two_meet(one: &str, other: &str) -> bool {
    match (one.strip_prefix('*'), other.strip_prefix('*')) {
        (None, None) => one.eq_ignore_ascii_case(other),
        (Some(suffix), None) => under(other, suffix),
        (None, Some(suffix)) => under(one, suffix),
        // Each stands for all names below its suffix, so that they meet where one suffix lies below the other. Either
        // side may be the wider one.
        (Some(a), Some(b)) => ends_with(a, b) || ends_with(b, a),
    }
}

/// Whether `host` is at least one label longer than `suffix`, which begins with a dot.
fn under(host: &str, suffix: &str) -> bool {
    suffix.is_empty() || (host.len() > suffix.len() && ends_with(host, suffix))
}

/// Whether a text ends with another one, in whatever case.
fn ends_with(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    let last = start.and_then(|start| text.as_bytes().get(start..));
    last.is_some_and(|last| last.eq_ignore_ascii_case(end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_stands_for_one_or_more_labels_on_either_side() {
        assert!(hostnames_meet(Some("*.example.com"), &["shop.example.com"]));
        assert!(hostnames_meet(Some("a.b.example.com"), &["*.example.com"]));
        assert!(hostnames_meet(Some("*.example.com"), &["*.b.example.com"]));
        assert!(!hostnames_meet(Some("*.example.com"), &["*.example.org"]));
        assert!(!hostnames_meet(Some("*.example.com"), &["badexample.com"]));
    }

    #[test]
    fn a_wildcard_covers_what_has_more_labels() {
        assert!(covers("*.example.com", "a.b.example.com"));
        assert!(!covers("*.example.com", "example.com"));
        assert!(!covers("*.example.com", "xexample.com"));
        assert!(covers("Shop.example.com", "shop.example.com"));
    }

    #[test]
    fn letters_have_no_case_on_either_side() {
        for (listener, route) in [
            ("*.Example.com", "shop.example.COM"),
            ("SHOP.example.com", "*.Example.com"),
            ("*.EXAMPLE.com", "*.b.example.com"),
            ("shop.example.com", "Shop.Example.com"),
        ] {
            assert!(hostnames_meet(Some(listener), &[route]), "{listener} {route}");
        }
        assert!(covers("*.Example.com", "a.example.com"));
        assert!(!hostnames_meet(Some("*.example.com"), &["é"]));
    }

    #[test]
    fn a_wildcard_does_not_match_its_own_parent_domain() {
        assert!(!hostnames_meet(Some("*.example.com"), &["example.com"]));
        assert!(!hostnames_meet(Some("example.com"), &["*.example.com"]));
    }

    #[test]
    fn what_is_in_common_is_the_narrower_of_two() {
        let common = |listener, route: &[&str]| common_hostnames(listener, route).join(" ");
        assert_eq!(
            common(Some("*.example.com"), &["a.Example.com", "b.org"]),
            "a.example.com"
        );
        assert_eq!(
            common(Some("a.b.example.com"), &["*.example.com"]),
            "a.b.example.com"
        );
        assert_eq!(
            common(Some("*.example.com"), &["*.b.example.com"]),
            "*.b.example.com"
        );
        assert_eq!(common(None, &["x.org"]), "x.org");
        assert_eq!(common(Some("x.org"), &[]), "x.org");
        assert_eq!(common(None, &[]), "*");
    }

    #[test]
    fn no_hostname_is_any() {
        assert!(hostnames_meet(None, &["x.org"]));
        assert!(hostnames_meet(Some("x.org"), &[""; 0]));
    }
}
