//! URLs and mail addresses that Envoy Gateway reads as Go does (docs/systems/envoy-gateway.md#refused-settings).
//!
//! Owns: what Go refuses of them. Flows in: texts. Flows out: whether Go reads them, and the host of a URL. Must not
//! know: fields.
//!
//! `golang/go src/net/url/url.go@go1.24.0`, `golang/go src/net/mail/message.go@go1.24.0`.

/// Whether Go's `url.ParseRequestURI` reads a text.
pub(super) fn is_request_uri(text: &str) -> bool {
    !text.is_empty() && read(text, true).is_some()
}

/// The host of a URL without its port, as Go's `url.Parse` reads it; empty if there is none.
pub(super) fn host(text: &str) -> Option<&str> {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let host = read(text, false).filter(|_| are_escapes_whole(fragment))?;
    Some(match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(host, _)| host),
    })
}

/// Whether Go's `mail.ParseAddress` reads a text. What is more than a plain address is taken for one.
pub(super) fn is_address(text: &str) -> bool {
    let is_plain = |character: char| !matches!(character, '<' | '"' | '(' | '[');
    let is_atom = |atom: &str| {
        let of_atoms = |character: char| {
            !character.is_ascii()
                || character.is_ascii_alphanumeric()
                || "!#$%&'*+-/=?^_`{|}~".contains(character)
        };
        !atom.is_empty() && atom.chars().all(of_atoms)
    };
    if !text.chars().all(is_plain) {
        return true;
    }
    let Some((local, domain)) = text.trim_matches([' ', '\t']).split_once('@') else {
        return false;
    };
    [local, domain]
        .into_iter()
        .all(|part| part.trim_matches([' ', '\t']).split('.').all(is_atom))
}

/// Host and port of a text that Go reads.
fn read(text: &str, of_request: bool) -> Option<&str> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return None;
    }
    if text == "*" {
        return Some("");
    }
    let (has_scheme, rest) = after_scheme(text)?;
    let path = rest.split('?').next().unwrap_or_default();
    if !path.starts_with('/') {
        if has_scheme {
            return Some("");
        }
        let is_scheme_missing = path.split('/').next().is_some_and(|first| first.contains(':'));
        if of_request || is_scheme_missing {
            return None;
        }
    }
    let has_authority = has_scheme || (!of_request && !path.starts_with("///"));
    let (host, path) = match path.strip_prefix("//").filter(|_| has_authority) {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at_checked(end)?;
            (host_of(authority)?, path)
        }
        None => ("", path),
    };
    are_escapes_whole(path).then_some(host)
}

/// Whether a text has a scheme, and what follows it.
fn after_scheme(text: &str) -> Option<(bool, &str)> {
    for (position, character) in text.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if position > 0 => {}
            ':' if position > 0 => return Some((true, text.get(position.saturating_add(1)..)?)),
            ':' => return None,
            _ => return Some((false, text)),
        }
    }
    Some((false, text))
}

/// Host and port of an authority.
fn host_of(authority: &str) -> Option<&str> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", authority),
    };
    let of_users =
        |character: char| character.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(character);
    if !user.chars().all(of_users) || !are_escapes_whole(user) {
        return None;
    }
    let port = match host.strip_prefix('[') {
        Some(_) => Some(host.rsplit_once(']')?.1),
        None => host.rfind(':').and_then(|position| host.get(position..)),
    };
    let is_port = |port: &str| {
        let digits = port.strip_prefix(':').unwrap_or("-");
        port.is_empty() || digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let of_hosts = |character: char| {
        !character.is_ascii()
            || character.is_ascii_alphanumeric()
            || "-_.~!$&'()*+,;=:[]<>\"%".contains(character)
    };
    let is_host = port.is_none_or(is_port) && host.chars().all(of_hosts) && are_escapes_whole(host);
    is_host.then_some(host)
}

/// Whether two hexadecimal digits follow each percent sign.
fn are_escapes_whole(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let mut digits = after.bytes();
        let mut is_digit = || digits.next().is_some_and(|byte| byte.is_ascii_hexdigit());
        is_digit() && is_digit()
    })
}

#[cfg(test)]
mod tests {
    use super::{host, is_address, is_request_uri};

    #[test]
    fn a_request_uri_has_a_scheme_or_is_an_absolute_path() {
        for text in [
            "https://a.example",
            "/jwks",
            "accounts:8080",
            "http://[::1]:80/x?a=%zz",
            "*",
            "a:b c",
        ] {
            assert!(is_request_uri(text), "{text}");
        }
        for text in [
            "",
            "a.example/x",
            "://a.example",
            "1a://a",
            "http://a b/",
            "http://a:x/",
            "http://[::1",
            "http://a/%zz",
            "http://a/\u{7f}",
            "http://u{@a/",
        ] {
            assert!(!is_request_uri(text), "{text}");
        }
    }

    #[test]
    fn a_host_is_without_user_port_and_brackets() {
        assert_eq!(host("https://u@a.example:443/x#y"), Some("a.example"));
        assert_eq!(host("https://[::1]:443"), Some("::1"));
        assert_eq!(host("a.example/x"), Some(""));
        assert_eq!(host("a:b/c:d"), Some(""));
        assert_eq!(host("1:b"), None);
        assert_eq!(host("https://a/#%zz"), None);
    }

    #[test]
    fn a_mail_address_is_made_of_two_parts_of_atoms() {
        for text in ["a.b+c@d.example", "Ann <a@b>", " a@b ", "\u{e9}@b"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["a", "@b", "a@", "a..b@c", "a b@c", "a@b@c", ".a@b", "a@b."] {
            assert!(!is_address(text), "{text}");
        }
    }
}
