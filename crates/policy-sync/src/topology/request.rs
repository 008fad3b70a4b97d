//! A request as a user types it: `GET https://shop.example.com/cart?x=1`.
//!
//! Owns: its parts, and parsing them from a text. Flows in: a text, headers. Flows out: [`Request`]. Must not know:
//! listeners, routes.

use std::fmt;

/// A request to a Gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Plain or encrypted, HTTP or gRPC.
    pub scheme: Scheme,
    /// `GET` and the like, in upper case; gRPC is always `POST`.
    pub method: String,
    /// Host name, in lower case, without its port.
    pub host: String,
    /// Port of the listener.
    pub port: i64,
    /// Path as it is sent, from `/` on, without the query.
    pub path: String,
    /// Parameters of the query, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// Header fields, names in lower case, in their order.
    pub headers: Vec<(String, String)>,
}

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP.
    Http,
    /// HTTP over TLS.
    Https,
    /// gRPC.
    Grpc,
    /// gRPC over TLS.
    Grpcs,
}

impl Scheme {
    const ALL: [(&'static str, Self, i64); 4] = [
        ("http", Self::Http, 80),
        ("https", Self::Https, 443),
        ("grpc", Self::Grpc, 80),
        ("grpcs", Self::Grpcs, 443),
    ];

    /// Whether TLS is spoken.
    pub(crate) const fn is_encrypted(self) -> bool {
        matches!(self, Self::Https | Self::Grpcs)
    }

    /// Whether GRPCRoutes take it, and not HTTPRoutes.
    pub(crate) const fn is_grpc(self) -> bool {
        matches!(self, Self::Grpc | Self::Grpcs)
    }
}

/// Why a text is not a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoRequest {
    /// The mistake.
    pub reason: String,
    /// What to write instead.
    pub help: &'static str,
}

/// Whether a text is a request, and not an object.
pub fn is_request(text: &str) -> bool {
    text.contains("://")
}

impl Request {
    /// Reads `[METHOD ]SCHEME://HOST[:PORT][/PATH][?QUERY]` and headers of the form `NAME=VALUE` or `NAME: VALUE`.
    ///
    /// # Errors
    /// What is not one of this.
    pub fn parse(text: &str, headers: &[String]) -> Result<Self, NoRequest> {
        let (method, url) = match text.trim().split_once(char::is_whitespace) {
            Some((method, url)) => (Some(method), url.trim()),
            None => (None, text.trim()),
        };
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| no_request(format!("`{url}` is not a URL")))?;
        let (_, scheme, default_port) = Scheme::ALL
            .into_iter()
            .find(|(name, ..)| name.eq_ignore_ascii_case(scheme))
            .ok_or_else(|| no_request(format!("there is no scheme `{scheme}`")))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (host, port) = host_and_port(authority)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let is_method = |method: &&str| method.bytes().all(|byte| byte.is_ascii_alphabetic());
        let method = match method {
            None => if scheme.is_grpc() { "POST" } else { "GET" }.to_owned(),
            Some(method) => Some(method)
                .filter(is_method)
                .map(str::to_ascii_uppercase)
                .ok_or_else(|| no_request(format!("there is no method `{method}`")))?,
        };
        Ok(Self {
            scheme,
            method,
            host,
            port: port.unwrap_or(default_port),
            path: if path.is_empty() { "/" } else { path }.to_owned(),
            query: parameters(query),
            headers: headers
                .iter()
                .map(|header| read_header(header))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The first value of a header; names are compared without case
    /// (kubernetes-sigs/gateway-api apis/v1/httproute_types.go@v1.6.1).
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        if name.eq_ignore_ascii_case("host") {
            return Some(&self.host);
        }
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The first value of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut query = self.query.iter();
        query
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Scheme::ALL
            .into_iter()
            .find(|(_, scheme, _)| *scheme == self.scheme);
        let (scheme, _, default_port) = known.unwrap_or(("http", Scheme::Http, 80));
        write!(formatter, "{} {scheme}://{}", self.method, self.host)?;
        if self.port != default_port {
            write!(formatter, ":{}", self.port)?;
        }
        formatter.write_str(&self.path)
    }
}

fn no_request(reason: String) -> NoRequest {
    NoRequest {
        reason,
        help: "write it as 'GET https://shop.example.com/cart'; schemes are http, https, grpc and grpcs",
    }
}

fn host_and_port(authority: &str) -> Result<(String, Option<i64>), NoRequest> {
    let (host, port) = match authority.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if host.is_empty() || host.contains(['@', ' ']) {
        return Err(no_request(format!("`{authority}` is not a host")));
    }
    let port = port
        .map(|port| {
            let number = port.parse::<u16>().ok().filter(|number| *number > 0);
            number
                .map(i64::from)
                .ok_or_else(|| no_request(format!("`{port}` is not a port")))
        })
        .transpose()?;
    Ok((host.trim_end_matches('.').to_ascii_lowercase(), port))
}

fn parameters(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

/// `%41` is `A`, and `+` is a blank; anything else stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match escaped {
            Some(byte) => {
                bytes.push(byte);
                tail.get(2..).unwrap_or_default()
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                tail
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_header(header: &str) -> Result<(String, String), NoRequest> {
    let (name, value) = header
        .split_once([':', '='])
        .filter(|(name, _)| !name.trim().is_empty())
        .ok_or_else(|| NoRequest {
            reason: format!("`{header}` is not a header"),
            help: "write it as `--header x-user=alice`",
        })?;
    Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Request {
        Request::parse(text, &["X-User: alice".to_owned(), "a=b=c".to_owned()]).expect("a request")
    }

    #[test]
    fn a_url_alone_is_a_get_at_the_port_of_its_scheme() {
        let request = parse("https://Shop.Example.com");
        assert_eq!(
            (request.method.as_str(), request.port, request.path.as_str()),
            ("GET", 443, "/")
        );
        assert_eq!(request.host, "shop.example.com");
        assert_eq!(request.to_string(), "GET https://shop.example.com/");
    }

    #[test]
    fn every_part_is_read() {
        let request = parse("post http://a.b.:8080/c/d?x=1%202&y&x=3#f");
        assert_eq!(request.to_string(), "POST http://a.b:8080/c/d");
        assert_eq!(
            (
                request.parameter("x"),
                request.parameter("y"),
                request.parameter("z")
            ),
            (Some("1 2"), Some(""), None)
        );
        assert_eq!(
            (
                request.header("x-USER"),
                request.header("A"),
                request.header("Host")
            ),
            (Some("alice"), Some("b=c"), Some("a.b"))
        );
        assert_eq!(parse("grpc://s/pkg.Service/Call").method, "POST");
    }

    #[test]
    fn what_is_no_request_says_why() {
        for (text, reason) in [
            ("ftp://x", "there is no scheme `ftp`"),
            ("https://", "`` is not a host"),
            ("https://u@x", "`u@x` is not a host"),
            ("https://x:0", "`0` is not a port"),
            ("G=T https://x", "there is no method `G=T`"),
        ] {
            assert_eq!(Request::parse(text, &[]).expect_err(text).reason, reason);
        }
        assert!(Request::parse("http://x", &["=b".to_owned()]).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}|(GET )?https?://[a-z:@/?#%&=.\\[\\]0-9]{0,30}") {
            let _ = Request::parse(&text, std::slice::from_ref(&text));
        }
    }
}
