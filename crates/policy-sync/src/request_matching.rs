//! A request as a user types it, `GET https://shop.example.com/cart?x=1`: which listener of a Gateway accepts it, and which
//! rules of its routes match it, starting with the rule that gets it.
//!
//! docs/systems/gateway-api.md#which-rule-wins

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU16;

use apimachinery::{PatternError, Spent, Work};

use crate::api::gateway::GROUP;
use crate::api::route::Route;
use crate::object;
use crate::topology::{
    DelegationId, GatewayId, ListenerId, ListenerNode, NamedMatch, RouteId, RouteMatch, RuleId, Topology,
    covers,
};

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
    const fn is_grpc(self) -> bool {
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
        // Clients do not send the fragment.
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
    fn header(&self, name: &str) -> Option<&str> {
        if name.eq_ignore_ascii_case("host") {
            return Some(&self.host);
        }
        first(&self.headers, |known| known.eq_ignore_ascii_case(name))
    }

    /// The first value of a parameter.
    fn parameter(&self, name: &str) -> Option<&str> {
        first(&self.query, |known| known == name)
    }
}

/// The first value whose name is meant.
fn first(named: &[(String, String)], is_meant: impl Fn(&str) -> bool) -> Option<&str> {
    let found = named.iter().find(|(name, _)| is_meant(name));
    found.map(|(_, value)| value.as_str())
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
            let number = port.parse::<NonZeroU16>();
            number.map_err(|_| no_request(format!("`{port}` is not a port")))
        })
        .transpose()?;
    let port = port.map(|port| i64::from(port.get()));
    // A dot at the end is the root of DNS, and letters have no case there.
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

/// The result of a request at one Gateway.
#[derive(Debug)]
pub struct Taken {
    /// The listener that takes it.
    pub listener: ListenerId,
    /// The rules that match it, the one that takes it first. Without one, clients get 404.
    pub rules: Vec<Candidate>,
    /// Rules that may or may not match, so that each of `rules` may be wrong.
    pub unknown: Vec<Unknown>,
}

/// A rule with a regular expression that is not evaluated here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Its route.
    pub route: RouteId,
    /// The rule.
    pub rule: RuleId,
    /// Why: a sentence without a period.
    pub because: String,
}

/// A rule that matches a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// How the route gets the request, if rules of others hand it on.
    pub via: Option<DelegationId>,
    /// Its route.
    pub route: RouteId,
    /// The rule.
    pub rule: RuleId,
    rank: Rank,
}

/// How specific a match is: the smaller, the earlier. The fields are in the order in which they decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Characters of the route's hostname that is the host itself.
    whole_hostname: Reverse<usize>,
    /// Characters of its hostname that covers the host.
    hostname: Reverse<usize>,
    path: PathKind,
    /// Characters of the path, or of a gRPC service.
    path_length: Reverse<usize>,
    /// Whether a method is asked for; characters of a gRPC method.
    method: Reverse<usize>,
    headers: Reverse<usize>,
    parameters: Reverse<usize>,
    /// That of the route.
    route: object::Rank,
    /// Position of the rule, and of the match in it.
    position: (usize, usize),
}

/// Gateway API leaves it to implementations where regular expressions stand; Envoy's put them in the middle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum PathKind {
    Exact,
    RegularExpression,
    #[default]
    Prefix,
}

impl Candidate {
    /// Why it comes before another one: what decides first.
    pub fn because(&self, other: &Self) -> &'static str {
        let (one, two) = (&self.rank, &other.rank);
        if one.whole_hostname != two.whole_hostname {
            "its route names this host, and not a wildcard"
        } else if one.hostname != two.hostname {
            "the hostname of its route is longer"
        } else if one.path != two.path {
            "an exact path comes before a regular expression, and that before a prefix"
        } else if one.path_length != two.path_length {
            "its path is longer"
        } else if one.method != two.method {
            "it matches the method"
        } else if one.headers != two.headers {
            "it matches more headers"
        } else if one.parameters != two.parameters {
            "it matches more query parameters"
        } else if one.route == two.route {
            "it is first in its route"
        } else if one.route.is_older(&two.route) {
            "its route is older"
        } else {
            "its route is first by namespace/name, and no creation time decides"
        }
    }
}

impl Topology<'_> {
    /// The result of a request at a Gateway; `None` if no listener takes it. `work` pays for regular expressions.
    pub fn take(&self, gateway: GatewayId, request: &Request, work: &Work) -> Option<Taken> {
        let node = self.gateways.get(gateway);
        // Of several listeners the one with the most specific hostname takes it, and no other
        // (docs/systems/gateway-api.md#listeners).
        let listener = node
            .listeners
            .iter()
            .copied()
            .filter(|id| self.listeners.get(*id).receives(request))
            .min_by_key(|id| Reverse(self.listeners.get(*id).specificity()))?;
        let mut taken = Taken {
            listener,
            rules: Vec::new(),
            unknown: Vec::new(),
        };
        // Routes of other listeners are not asked, even if they match: Gateway API isolates listeners.
        for (_, route) in node.attached.iter().filter(|(at, _)| *at == listener) {
            self.match_rules(*route, request, work, &mut taken);
        }
        taken.rules.sort_by(|one, two| one.rank.cmp(&two.rank));
        Some(taken)
    }

    /// The pointer of a rule inside its route.
    pub fn pointer_of_rule(&self, route: RouteId, rule: RuleId) -> String {
        format!("/spec/rules/{}", self.position_of_rule(route, rule))
    }

    fn position_of_rule(&self, route: RouteId, rule: RuleId) -> usize {
        let mut rules = self.routes.get(route).rules.iter();
        rules.position(|known| *known == rule).unwrap_or_default()
    }

    /// Adds the rules of a route that match, each by its best match, unless it is a route for something else.
    fn match_rules(&self, id: RouteId, request: &Request, work: &Work, taken: &mut Taken) {
        let route = self.routes.get(id);
        let object = route.object;
        if object.api_version.group != GROUP {
            return;
        }
        let passes_through = self.listeners.get(taken.listener).passes_through;
        let matches: Match = match object.kind.as_str() {
            "HTTPRoute" if !request.scheme.is_grpc() && !passes_through => http_match,
            "GRPCRoute" if request.scheme.is_grpc() && !passes_through => grpc_match,
            // Without decrypting, only the server name is known, which the hostnames have matched.
            "TLSRoute" if passes_through => |_, _, _| Ok(Some(Rank::default())),
            _ => return,
        };
        let Some(hostname) = hostname_of(&route.route, &request.host) else {
            return;
        };
        let matching = Matching {
            matches,
            request,
            work,
            hostname,
        };
        for (position, rule) in route.rules.iter().copied().enumerate() {
            let listed = RouteMatch::from_route(object, position);
            self.match_rule((None, id, rule), &listed, &matching, taken);
        }
    }

    /// Adds a rule that matches, or, if it delegates, the rules that it delegates to.
    fn match_rule(
        &self,
        (via, id, rule): (Option<DelegationId>, RouteId, RuleId),
        listed: &[RouteMatch<'_>],
        matching: &Matching<'_>,
        taken: &mut Taken,
    ) {
        let mut delegates = false;
        for (way, child) in self.delegations_from(via, rule) {
            delegates = true;
            for (rule, listed) in &self.delegations.all.get(way).rules {
                self.match_rule((Some(way), child, *rule), listed, matching, taken);
            }
        }
        if delegates {
            return;
        }
        let route = self.routes.get(id);
        let position = self.position_of_rule(id, rule);
        let mut best: Option<Rank> = None;
        let mut unknown: Option<String> = None;
        for (which, listed) in listed.iter().enumerate() {
            match (matching.matches)(listed, matching.request, matching.work) {
                Ok(Some(rank)) => {
                    let rank = Rank {
                        whole_hostname: Reverse(matching.hostname.0),
                        hostname: Reverse(matching.hostname.1),
                        route: route.rank.clone(),
                        position: (position, which),
                        ..rank
                    };
                    // A rule is as specific as its most specific match that fits.
                    best = best.into_iter().chain([rank]).min();
                }
                Ok(None) => {}
                Err(because) => unknown = unknown.or(Some(because)),
            }
        }
        let route = id;
        taken.rules.extend(best.map(|rank| Candidate {
            via,
            route,
            rule,
            rank,
        }));
        taken
            .unknown
            .extend(unknown.map(|because| Unknown { route, rule, because }));
    }
}

/// The criteria that a request is compared by.
struct Matching<'q> {
    matches: Match,
    request: &'q Request,
    work: &'q Work,
    /// How well the hostnames fit of the route that is attached to the listener.
    hostname: (usize, usize),
}

/// Whether a match of a rule fits a request, and how specific it is; or why that is not known.
type Match = fn(&RouteMatch<'_>, &Request, &Work) -> Result<Option<Rank>, String>;

/// Characters of the hostname of a route that covers a host: of one that is the host, and of any. `None`: it has
/// hostnames, and none does.
fn hostname_of(route: &Route<'_>, host: &str) -> Option<(usize, usize)> {
    if route.hostnames.is_empty() {
        return Some((0, 0));
    }
    let covering = route.hostnames.iter().filter(|hostname| covers(hostname, host));
    covering
        .map(|hostname| {
            let length = hostname.chars().count();
            (if hostname.starts_with('*') { 0 } else { length }, length)
        })
        .max()
}

fn http_match(listed: &RouteMatch<'_>, request: &Request, work: &Work) -> Result<Option<Rank>, String> {
    if listed.method.is_some_and(|method| method != request.method) {
        return Ok(None);
    }
    let wanted = listed.path();
    let (kind, fits) = match listed.kind {
        "PathPrefix" => (PathKind::Prefix, Ok(is_below(&request.path, wanted))),
        "RegularExpression" => (PathKind::RegularExpression, is_match(wanted, &request.path, work)),
        other => (PathKind::Exact, fits(other, wanted, &request.path, work)),
    };
    let headers = all_match(&listed.headers, |name| request.header(name), work);
    let parameters = all_match(&listed.parameters, |name| request.parameter(name), work);
    // A mismatch decides, whatever the rest results in.
    if matches!(fits, Ok(false)) || matches!(headers, Ok(None)) || matches!(parameters, Ok(None)) {
        return Ok(None);
    }
    fits?;
    Ok(headers?.zip(parameters?).map(|(headers, parameters)| Rank {
        path: kind,
        path_length: Reverse(wanted.chars().count()),
        method: Reverse(usize::from(listed.method.is_some())),
        headers: Reverse(headers),
        parameters: Reverse(parameters),
        ..Rank::default()
    }))
}

fn grpc_match(listed: &RouteMatch<'_>, request: &Request, work: &Work) -> Result<Option<Rank>, String> {
    let called = request
        .path
        .strip_prefix('/')
        .and_then(|path| path.split_once('/'));
    let Some((service, call)) = called else {
        return Ok(None);
    };
    let fits = |wanted: Option<&str>, there: &str| {
        wanted.map_or(Ok(true), |wanted| fits(listed.kind, wanted, there, work))
    };
    let (wanted_service, wanted_call) = (listed.path.as_deref(), listed.method);
    let (service, call) = (fits(wanted_service, service), fits(wanted_call, call));
    let headers = all_match(&listed.headers, |name| request.header(name), work);
    if matches!(service, Ok(false)) || matches!(call, Ok(false)) || matches!(headers, Ok(None)) {
        return Ok(None);
    }
    service?;
    call?;
    let length = |wanted: Option<&str>| Reverse(wanted.map_or(0, |wanted| wanted.chars().count()));
    Ok(headers?.map(|headers| Rank {
        path_length: length(wanted_service),
        method: length(wanted_call),
        headers: Reverse(headers),
        ..Rank::default()
    }))
}

/// How many are asked for, if all are there. Of several with one name the first counts.
fn all_match<'r>(
    listed: &[NamedMatch<'_>],
    value: impl Fn(&str) -> Option<&'r str>,
    work: &Work,
) -> Result<Option<usize>, String> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut unknown = None;
    for wanted in listed {
        if !names.insert(wanted.name.to_ascii_lowercase()) {
            continue;
        }
        let there = value(&wanted.name);
        match there.map_or(Ok(false), |there| fits(wanted.kind, wanted.value, there, work)) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(because) => unknown = unknown.or(Some(because)),
        }
    }
    unknown.map_or(Ok(Some(names.len())), Err)
}

/// Whether a path is below a prefix, element by element; a slash at the end of the prefix is ignored.
fn is_below(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether an expression covers a whole text, as Envoy has it; or why that is not known.
fn is_match(expression: &str, text: &str, work: &Work) -> Result<bool, String> {
    let invalid = |error: &PatternError| format!("a regular expression is not understood: {error}");
    let matched = work.pattern(expression).and_then(|alone| {
        // Alone first: `a)|(b` is an expression between our brackets, and none by itself.
        if let Err(error) = alone.as_ref() {
            return Ok(Err(invalid(error)));
        }
        match work.pattern(&format!("^(?:{expression})$"))?.as_ref() {
            Ok(pattern) => work.allowance_of(0).is_match(pattern, text).map(Ok),
            Err(error) => Ok(Err(invalid(error))),
        }
    });
    matched.unwrap_or_else(|Spent| {
        Err("the regular expressions of the routes take more work than a run may spend".to_owned())
    })
}

/// Whether a text is what a match of some type wants; or why that is not known.
fn fits(kind: &str, wanted: &str, there: &str, work: &Work) -> Result<bool, String> {
    match kind {
        "Exact" => Ok(wanted == there),
        "RegularExpression" => is_match(wanted, there, work),
        other => Err(format!("a match of type `{other}` is not understood")),
    }
}

impl ListenerNode<'_> {
    /// Whether a request comes to it: by port, protocol, and hostname.
    pub(crate) fn receives(&self, request: &Request) -> bool {
        let protocols: &[&str] = if request.scheme.is_encrypted() {
            &["HTTPS", "TLS"]
        } else {
            &["HTTP"]
        };
        self.gives_way_to.is_none()
            && self.port == Some(request.port)
            && protocols.contains(&self.protocol)
            && self
                .hostname
                .is_none_or(|hostname| covers(hostname, &request.host))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use kube_json::{Value, json};
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

    fn rank(listed: &Value, request: &str) -> Option<Rank> {
        tried(listed, request, &Work::default()).expect("all is understood")
    }

    fn tried(listed: &Value, request: &str, work: &Work) -> Result<Option<Rank>, String> {
        let request = Request::parse(request, &["x-user=alice".to_owned(), "x-team=red".to_owned()])
            .expect("a request");
        let rule = json!({"matches": [listed]});
        http_match(&RouteMatch::from_rule("HTTPRoute", &rule)[0], &request, work)
    }

    #[test]
    fn a_prefix_is_matched_element_by_element() {
        for (prefix, path, expected) in [
            ("/abc", "/abc", true),
            ("/abc", "/abc/def", true),
            ("/abc", "/abcd", false),
            ("/abc/", "/abc", true),
            ("/", "/x", true),
            ("/abc/d", "/abc", false),
        ] {
            assert_eq!(is_below(path, prefix), expected, "{prefix} {path}");
        }
    }

    #[test]
    fn what_is_asked_for_must_be_there() {
        let matches = |listed: Value| rank(&listed, "GET http://a/x?q=1").is_some();
        assert!(matches(json!({})));
        assert!(matches(json!({"method": "GET"})) && !matches(json!({"method": "POST"})));
        assert!(matches(
            json!({"headers": [{"name": "X-User", "value": "alice"}]})
        ));
        assert!(!matches(json!({"headers": [{"name": "X-User", "value": "bob"}]})));
        assert!(matches(
            json!({"headers": [{"name": "X-User", "type": "RegularExpression", "value": "al.*"}]})
        ));
        assert!(!matches(
            json!({"headers": [{"name": "X-User", "type": "RegularExpression", "value": "al"}]})
        ));
        assert!(matches(json!({"queryParams": [{"name": "q", "value": "1"}]})));
        assert!(!matches(json!({"queryParams": [{"name": "r", "value": "1"}]})));
        assert!(matches(
            json!({"path": {"type": "RegularExpression", "value": "/[x-z]"}})
        ));
    }

    #[test]
    fn what_is_not_understood_matches_nobody_knows_whether_unless_the_rest_does_not_match() {
        let request = "GET http://a/x?q=1";
        let path = |expression: &str| json!({"type": "RegularExpression", "value": expression});
        let header = |kind: &str, value: &str| json!([{"name": "x-user", "type": kind, "value": value}]);
        for (listed, expected) in [
            (
                json!({"path": path("/x(")}),
                "a regular expression is not understood: error: unclosed group",
            ),
            (
                json!({"path": path("/x)|(.*")}),
                "a regular expression is not understood: error: unopened group",
            ),
            (
                json!({"headers": header("RegularExpression", "(")}),
                "a regular expression is not understood: error: unclosed group",
            ),
            (
                json!({"headers": header("Suffix", "e")}),
                "a match of type `Suffix` is not understood",
            ),
            (
                json!({"path": {"type": "Glob", "value": "/*"}}),
                "a match of type `Glob` is not understood",
            ),
        ] {
            assert_eq!(
                tried(&listed, request, &Work::default()),
                Err(expected.to_owned()),
                "{listed}"
            );
            let mut other = listed.clone();
            other["method"] = json!("POST");
            assert_eq!(tried(&other, request, &Work::default()), Ok(None), "{other}");
            other["method"] = json!("GET");
            other["queryParams"] = json!([{"name": "r", "value": "1"}]);
            assert_eq!(tried(&other, request, &Work::default()), Ok(None), "{other}");
        }
        let listed = json!({"path": path("/[x-z]{1,900}")});
        let spent = tried(&listed, request, &Work::with_limit(1_000)).expect_err("too much work");
        assert!(spent.contains("more work than a run may spend"), "{spent}");
    }

    proptest! {
        /// Whatever else it asks for, a match that asks for one thing more comes first.
        #[test]
        fn a_rule_never_loses_to_a_less_specific_one(
            depth in 0_usize..4, method in any::<bool>(), headers in 0_usize..3, parameters in 0_usize..3, more in 0_usize..5,
        ) {
            let elements = ["a", "b", "c", "d", "e"];
            let listed = |depth: usize, exact: bool, method: bool, headers: usize, parameters: usize| {
                let path = format!("/{}", elements[..depth].join("/"));
                let names = [("x-user", "alice"), ("x-team", "red"), ("host", "h")];
                let queries = [("p", "1"), ("q", "2"), ("r", "3")];
                let list = |of: &[(&str, &str)]| of.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>();
                let mut value = json!({
                    "path": {"type": if exact { "Exact" } else { "PathPrefix" }, "value": path},
                    "headers": list(&names[..headers]),
                    "queryParams": list(&queries[..parameters]),
                });
                if method {
                    value["method"] = json!("GET");
                }
                value
            };
            let less = listed(depth, false, method && more != 2, headers, parameters);
            let request = format!("GET http://h/{}?p=1&q=2&r=3", elements[..=depth].join("/"));
            let specific = match more {
                0 => listed(depth + 1, true, false, 0, 0),
                1 => listed(depth + 1, false, false, 0, 0),
                2 => listed(depth, false, true, 0, 0),
                3 => listed(depth, false, method, headers + 1, 0),
                _ => listed(depth, false, method, headers, parameters + 1),
            };
            let (less, specific) = (rank(&less, &request), rank(&specific, &request));
            prop_assert!(less.is_some() && specific.is_some());
            prop_assert_eq!(specific.cmp(&less), Ordering::Less);
        }
    }
}
