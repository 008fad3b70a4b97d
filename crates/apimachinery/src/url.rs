//! URLs as Go's `net/url` reads them.
//!
//! Browsers read URLs differently: they turn hosts into lower case, drop default ports, and mend what is broken.
//!
//! Rules: `golang/go src/net/url/url.go@go1.26`.

use std::net::Ipv6Addr;

/// A URL by its parts. Two are equal if they are written alike, but for the case of the scheme.
///
/// ```
/// use apimachinery::Url;
///
/// let url = Url::parse("https://A.example:443/a%20b?x=1").expect("a URL");
/// assert_eq!((url.hostname(), url.port(), url.escaped_path()), ("A.example", "443", "/a%20b"));
/// assert!(Url::parse_request_uri("a.example/x").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// In lower case; empty for a path alone.
    scheme: String,
    /// What follows the scheme where no slash does, as in `mailto:a@b`.
    opaque: String,
    user: Option<String>,
    /// With its port, percent-decoded.
    host: String,
    /// As `EscapedPath` writes it.
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

/// Where percent-encoding stands: what else a part may hold depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    Zone,
    Path,
    Query,
    Other,
}

impl Url {
    /// Reads a URL or a reference to one, as `url.Parse`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (before, fragment) = match text.split_once('#') {
            None => (text, None),
            Some((before, fragment)) => (before, Some(fragment.to_owned())),
        };
        let url = Self::read(before, false)?;
        unescape(fragment.as_deref().unwrap_or_default(), Part::Other)?;
        Ok(Self { fragment, ..url })
    }

    /// Reads an absolute URL, or a path that starts with a slash, as `url.ParseRequestURI`. It knows no fragment, so that
    /// `http://a#f` has an impossible host.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse_request_uri(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("empty url");
        }
        Self::read(text, true)
    }

    /// Reads all but a fragment. In a request, what starts with two slashes is a path, and a relative path is none.
    fn read(text: &str, is_request: bool) -> Result<Self, &'static str> {
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("invalid control character in URL");
        }
        let (scheme, rest) = scheme(text)?;
        let (rest, query) = match rest.split_once('?') {
            None => (rest, None),
            Some((rest, query)) => (rest, Some(query.to_owned())),
        };
        let mut url = Self {
            scheme: scheme.to_ascii_lowercase(),
            opaque: String::new(),
            user: None,
            host: String::new(),
            path: String::new(),
            query,
            fragment: None,
        };
        if !rest.starts_with('/') {
            match (scheme, text) {
                ("", "*") => "*".clone_into(&mut url.path),
                ("", _) if is_request => return Err("invalid URI for request"),
                ("", _) if rest.split('/').next().is_some_and(|first| first.contains(':')) => {
                    return Err("first path segment in URL cannot contain colon");
                }
                ("", _) => url.path = escaped(rest)?,
                _ => rest.clone_into(&mut url.opaque),
            }
            return Ok(url);
        }
        let has_authority = !scheme.is_empty() || !is_request && !rest.starts_with("///");
        let authority = rest.strip_prefix("//").filter(|_| has_authority);
        let path = match authority {
            None => rest,
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                let host = match authority.rsplit_once('@') {
                    None => authority,
                    Some((user, host)) => {
                        if !user
                            .bytes()
                            .all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte))
                        {
                            return Err("net/url: invalid userinfo");
                        }
                        unescape(user, Part::Other)?;
                        url.user = Some(user.to_owned());
                        host
                    }
                };
                url.host = read_host(host)?;
                path
            }
        };
        url.path = escaped(path)?;
        Ok(url)
    }

    /// The scheme in lower case; empty if there is none.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host with its port, and an IPv6 address in its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> &str {
        self.name_and_port().0
    }

    /// The port as written; empty if there is none.
    pub fn port(&self) -> &str {
        self.name_and_port().1
    }

    /// The path, percent-encoded.
    pub fn escaped_path(&self) -> &str {
        &self.path
    }

    /// Names and values of the query, decoded. Pairs with a semicolon or a broken escape are left out.
    pub fn query(&self) -> impl Iterator<Item = (String, String)> {
        let query = self.query.as_deref().unwrap_or_default().split('&');
        let pairs = query.filter(|pair| !pair.is_empty() && !pair.contains(';'));
        pairs.filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = |text| unescape(text, Part::Query).map(text_of).ok();
            Some((decoded(name)?, decoded(value)?))
        })
    }

    /// The bytes of its parts.
    pub fn bytes(&self) -> usize {
        let optional = [&self.user, &self.query, &self.fragment];
        let parts = [&self.scheme, &self.opaque, &self.host, &self.path];
        let parts = parts.into_iter().chain(optional.into_iter().flatten());
        parts.map(String::len).fold(0, usize::saturating_add)
    }

    /// The host's name without brackets, and its port.
    fn name_and_port(&self) -> (&str, &str) {
        let (name, port) = match self
            .host
            .rfind(':')
            .and_then(|colon| self.host.split_at_checked(colon))
        {
            Some((name, port)) if is_port(port) => (name, port.trim_start_matches(':')),
            _ => (self.host.as_str(), ""),
        };
        let inside = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        (inside.unwrap_or(name), port)
    }
}

/// The scheme, empty if there is none, and what follows it.
fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err("missing protocol scheme"),
            b':' => {
                let (scheme, rest) = text.split_at_checked(index).unwrap_or((text, ""));
                return Ok((scheme, rest.strip_prefix(':').unwrap_or_default()));
            }
            _ => break,
        }
    }
    Ok(("", text))
}

/// A host with its port, decoded.
fn read_host(host: &str) -> Result<String, &'static str> {
    let Some(rest) = host.strip_prefix('[') else {
        if host.contains(['[', ']']) {
            return Err("invalid host");
        }
        if let Some((name, port)) = host.rsplit_once(':') {
            if !port.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err("invalid port after host");
            }
            if name.contains(':') {
                return Err("invalid host");
            }
        }
        return unescape(host, Part::Host).map(text_of);
    };
    let Some((inside, port)) = rest.rsplit_once(']') else {
        return Err("missing ']' in host");
    };
    if !is_port(port) {
        return Err("invalid port after host");
    }
    let (address, zone) = inside.split_at(inside.find("%25").unwrap_or(inside.len()));
    let address = text_of(unescape(address, Part::Host)?);
    if address.parse::<Ipv6Addr>().is_err() {
        return Err("invalid host");
    }
    let zone = text_of(unescape(zone, Part::Zone)?);
    Ok(format!("[{address}{zone}]{port}"))
}

/// Nothing, or a colon and digits.
fn is_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        None => text.is_empty(),
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// A path as `EscapedPath` writes it: as it is, where it could be written so.
fn escaped(path: &str) -> Result<String, &'static str> {
    let decoded = unescape(path, Part::Path)?;
    let is_escaped = path
        .bytes()
        .all(|byte| b"!'()*[]%".contains(&byte) || stands_in_path(byte));
    Ok(if is_escaped {
        path.to_owned()
    } else {
        escape_path(&decoded)
    })
}

/// The bytes that a text stands for.
fn unescape(text: &str, part: Part) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match *first {
            b'%' => {
                let [high, low, after @ ..] = after else {
                    return Err("invalid URL escape");
                };
                let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low)) else {
                    return Err("invalid URL escape");
                };
                rest = after;
                let byte = (high << 4) | low;
                let is_allowed = match part {
                    // RFC 6874 needs `%25` before a zone; else a host escapes nothing that ASCII has.
                    Part::Host => byte >= 0x80 || byte == b'%',
                    Part::Zone => byte == b'%' || byte == b' ' || stands_in_host(byte),
                    Part::Path | Part::Query | Part::Other => true,
                };
                if !is_allowed {
                    return Err("invalid URL escape");
                }
                bytes.push(byte);
            }
            b'+' if part == Part::Query => bytes.push(b' '),
            byte if matches!(part, Part::Host | Part::Zone) && byte < 0x80 && !stands_in_host(byte) => {
                return Err("invalid character in host name");
            }
            byte => bytes.push(byte),
        }
    }
    Ok(bytes)
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// Whether a byte may stand in a host as it is.
fn stands_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

/// Whether a byte stands in a path as it is when Go writes one.
fn stands_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte)
}

fn escape_path(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path {
        if stands_in_path(*byte) {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// What is not UTF-8 becomes replacement characters: a text of CEL is Unicode.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    //! What Go says of the same texts.

    use proptest::prelude::*;

    use super::*;

    /// As Kubernetes reads a text: it must be one of a request, too.
    fn kubernetes(text: &str) -> Option<Url> {
        Url::parse_request_uri(text).and_then(|_| Url::parse(text)).ok()
    }

    fn parts(text: &str) -> Option<[String; 4]> {
        let url = kubernetes(text)?;
        let (name, port) = url.name_and_port();
        Some([
            url.scheme.clone(),
            name.to_owned(),
            port.to_owned(),
            url.path.clone(),
        ])
    }

    #[test]
    fn parts_are_those_of_net_url() {
        for (text, scheme, name, port, path) in [
            ("https://a.b/c", "https", "a.b", "", "/c"),
            ("http://localhost/x", "http", "localhost", "", "/x"),
            (
                "HTTPS://User:pw@EXAMPLE.com:443/a%20b?q#f",
                "https",
                "EXAMPLE.com",
                "443",
                "/a%20b",
            ),
            ("https://[::1]:80/", "https", "::1", "80", "/"),
            ("https://[fe80::1%25en0]:80", "https", "fe80::1%en0", "80", ""),
            ("http://h:", "http", "h", "", ""),
            ("/path/only", "", "", "", "/path/only"),
            ("//host/path", "", "host", "", "/path"),
            ("///path", "", "", "", "///path"),
            ("https://a.b/#f", "https", "a.b", "", "/"),
            ("mailto:a@b", "mailto", "", "", ""),
            ("unix:///var/run/x", "unix", "", "", "/var/run/x"),
            ("*", "", "", "", "*"),
            ("/a b", "", "", "", "/a%20b"),
            ("/a!b(c)", "", "", "", "/a!b(c)"),
            ("/a!b c", "", "", "", "/a%21b%20c"),
            ("http://ü.example/ü", "http", "ü.example", "", "/%C3%BC"),
        ] {
            let expected = [scheme, name, port, path].map(ToOwned::to_owned);
            assert_eq!(parts(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_net_url_refuses_is_no_url() {
        for text in [
            "",
            "relative",
            "../x",
            "#f",
            "?q",
            ":x",
            "1http://a",
            "http://a b/",
            "http://a:port/",
            "http://a:1:2/",
            "http://::1/",
            "http://[::1/",
            "http://[::1]x/",
            "http://[127.0.0.1]/",
            "http://a[b]/",
            "http://a%41/",
            "http://a/%zz",
            "http://a/%2",
            "http://a/#%zz",
            "http://a#f",
            "*x",
            "http://u ser@a/",
            "http://a\\b/",
            "http://a/\n",
        ] {
            assert_eq!(kubernetes(text), None, "{text}");
        }
    }

    #[test]
    fn a_reference_may_be_relative() {
        let of = |text: &str| Url::parse(text).map(|url| (url.hostname().to_owned(), url.path));
        assert_eq!(
            of("a.example/x y"),
            Ok((String::new(), "a.example/x%20y".to_owned()))
        );
        assert_eq!(of(""), Ok((String::new(), String::new())));
        assert!(of("1:b").is_err());
        assert!(of("https://a/#%zz").is_err());
    }

    #[test]
    fn a_query_has_decoded_pairs() {
        let of = |text: &str| {
            let url = Url::parse(text).expect(text);
            let pairs = url.query().map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join(" & ")
        };
        assert_eq!(of("/?a=1&a=2&b"), "a=1 & a=2 & b=");
        assert_eq!(of("/?a+b=%31&x;y=1&%zz=2&&=3"), "a b=1 & =3");
        assert_eq!(of("/"), "");
        assert_eq!(of("/?"), "");
    }

    proptest! {
        #[test]
        fn no_text_ever_panics(text in "[a-b:/?#@%2\\[\\]. +ü-]{0,20}") {
            let _ = Url::parse_request_uri(&text);
            let _ = Url::parse(&text).map(|url| url.query().count());
        }

        #[test]
        fn an_escaped_path_stays_as_it_is(path in "/[a-b%!/. ]{0,8}") {
            if let Ok(url) = Url::parse(&format!("http://a{path}")) {
                let again = Url::parse(&format!("http://a{}", url.path)).expect("a written path");
                prop_assert_eq!(again.path, url.path);
            }
        }
    }
}
