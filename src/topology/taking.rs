//! Which listener of a Gateway takes a request, and which rules of its routes match it, the one that takes it first.
//!
//! Owns: matching, and the order in which rules take precedence (docs/systems/gateway-api.md#which-rule-wins).
//! Flows in: a request, the hierarchy. Flows out: [`Taken`]. Must not know: policies, clusters.

use std::cmp::Reverse;

use serde_json::Value;

use super::hierarchy::Topology;
use super::hostname_intersection::covers;
use super::ids::{GatewayId, ListenerId, RouteId, RuleId};
use super::listener::ListenerNode;
use super::request::Request;
use crate::api::gateway::GROUP;
use crate::object::Object;
use apimachinery::{Field, ParsedPattern};

/// What becomes of a request at one Gateway.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The listener that takes it.
    pub(crate) listener: ListenerId,
    /// The rules that match it, the one that takes it first. None: nobody answers, which clients see as 404.
    pub(crate) rules: Vec<Candidate>,
}

/// A rule that matches a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its route.
    pub(crate) route: RouteId,
    /// The rule.
    pub(crate) rule: RuleId,
    rank: Rank,
}

/// How specific a match is: the smaller, the earlier. The fields stand in the order in which they decide.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Namespace and name of the route: the input does not know which is older.
    key: (String, String),
    /// Position of the rule, and of the match in it.
    position: (usize, usize),
}

/// Gateway API leaves it to implementations where regular expressions stand; Envoy's put them in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PathKind {
    Exact,
    RegularExpression,
    Prefix,
}

impl Candidate {
    /// Why it comes before another one: what decides first.
    pub(crate) fn because(&self, other: &Self) -> &'static str {
        let (one, two) = (&self.rank, &other.rank);
        let reasons = [
            (
                one.whole_hostname != two.whole_hostname,
                "its route names this host, and not a wildcard",
            ),
            (
                one.hostname != two.hostname,
                "the hostname of its route is longer",
            ),
            (
                one.path != two.path,
                "an exact path comes before a regular expression, and that before a prefix",
            ),
            (one.path_length != two.path_length, "its path is longer"),
            (one.method != two.method, "it asks for the method"),
            (one.headers != two.headers, "it asks for more headers"),
            (
                one.parameters != two.parameters,
                "it asks for more parameters of the query",
            ),
            (
                one.key != two.key,
                "its route comes first by namespace/name, and which is older the input does not know",
            ),
        ];
        let found = reasons.into_iter().find(|(differs, _)| *differs);
        found.map_or("it stands first in its route", |(_, reason)| reason)
    }
}

impl Topology<'_> {
    /// What becomes of a request at a Gateway; `None` when no listener takes it.
    #[must_use]
    pub(crate) fn take(&self, gateway: GatewayId, request: &Request) -> Option<Taken> {
        let node = self.gateways.get(gateway);
        // Of several listeners the one with the most specific hostname takes it, and no other
        // (docs/systems/gateway-api.md#listeners).
        let listener = node
            .listeners
            .iter()
            .copied()
            .filter(|id| self.listeners.get(*id).hears(request))
            .min_by_key(|id| Reverse(self.listeners.get(*id).specificity()))?;
        let mut rules: Vec<Candidate> = node
            .attached
            .iter()
            .filter(|(at, _)| *at == listener)
            .filter_map(|(_, route)| self.best_of_each_rule(*route, self.listeners.get(listener), request))
            .flatten()
            .collect();
        rules.sort_by(|one, two| one.rank.cmp(&two.rank));
        Some(Taken { listener, rules })
    }

    /// The pointer of a rule inside its route.
    #[must_use]
    pub(crate) fn pointer_of_rule(&self, route: RouteId, rule: RuleId) -> String {
        let mut rules = self.routes.get(route).rules.iter();
        let position = rules.position(|known| *known == rule).unwrap_or_default();
        format!("/spec/rules/{position}")
    }

    /// The rules of a route that match, each by its best match; `None` when it is a route for something else.
    fn best_of_each_rule(
        &self,
        id: RouteId,
        listener: &ListenerNode<'_>,
        request: &Request,
    ) -> Option<Vec<Candidate>> {
        let route = self.routes.get(id);
        let object = route.object;
        if object.api_version.group != GROUP {
            return None;
        }
        let matches: fn(&Field<'_>, &Request) -> Option<Rank> = match object.kind.as_str() {
            "HTTPRoute" if !request.scheme.is_grpc() && !listener.passes_through() => http_match,
            "GRPCRoute" if request.scheme.is_grpc() && !listener.passes_through() => grpc_match,
            "TLSRoute" if listener.passes_through() => |_, _| Some(Rank::default()),
            _ => return None,
        };
        let (whole_hostname, hostname) = hostname_of(object, &request.host)?;
        let spec = object.root().get("spec");
        let written: Vec<Field<'_>> = spec.get("rules").items().collect();
        let candidates = route.rules.iter().enumerate().filter_map(|(position, rule)| {
            // An HTTPRoute without rules has one, and a rule without matches matches everything below `/`.
            let field = written.get(position);
            let listed: Vec<Field<'_>> = field
                .into_iter()
                .flat_map(|rule| rule.get("matches").items())
                .collect();
            let nothing = Field::new(&Value::Null);
            let tried = if listed.is_empty() { vec![nothing] } else { listed };
            let ranks = tried.iter().enumerate().filter_map(|(which, listed)| {
                Some(Rank {
                    whole_hostname: Reverse(whole_hostname),
                    hostname: Reverse(hostname),
                    key: (object.namespace_or_empty().to_owned(), object.name.clone()),
                    position: (position, which),
                    ..matches(listed, request)?
                })
            });
            Some(Candidate {
                route: id,
                rule: *rule,
                rank: ranks.min()?,
            })
        });
        Some(candidates.collect())
    }
}

impl Default for Rank {
    fn default() -> Self {
        let none = Reverse(0);
        Self {
            whole_hostname: none,
            hostname: none,
            path: PathKind::Prefix,
            path_length: none,
            method: none,
            headers: none,
            parameters: none,
            key: (String::new(), String::new()),
            position: (0, 0),
        }
    }
}

/// Characters of the hostname of a route that covers a host: of one that is the host, and of any. `None`: it has
/// hostnames, and none does.
fn hostname_of(route: &Object, host: &str) -> Option<(usize, usize)> {
    let hostnames: Vec<&str> = route
        .root()
        .get("spec")
        .get("hostnames")
        .items()
        .filter_map(|field| field.str())
        .collect();
    if hostnames.is_empty() {
        return Some((0, 0));
    }
    let covering = hostnames.iter().filter(|hostname| covers(hostname, host));
    covering
        .map(|hostname| {
            let length = hostname.chars().count();
            (if hostname.starts_with('*') { 0 } else { length }, length)
        })
        .max()
}

fn http_match(listed: &Field<'_>, request: &Request) -> Option<Rank> {
    let path = listed.get("path");
    let wanted = path.get("value").str().unwrap_or("/");
    let kind = match path.get("type").str().unwrap_or("PathPrefix") {
        "Exact" if wanted == request.path => PathKind::Exact,
        "PathPrefix" if is_below(&request.path, wanted) => PathKind::Prefix,
        "RegularExpression" if is_match(wanted, &request.path) => PathKind::RegularExpression,
        _ => return None,
    };
    let method = listed.get("method");
    if method.str().is_some_and(|method| method != request.method) {
        return None;
    }
    Some(Rank {
        path: kind,
        path_length: Reverse(wanted.chars().count()),
        method: Reverse(usize::from(method.is_present())),
        headers: Reverse(all_match(&listed.get("headers"), |name| request.header(name))?),
        parameters: Reverse(all_match(&listed.get("queryParams"), |name| {
            request.parameter(name)
        })?),
        ..Rank::default()
    })
}

fn grpc_match(listed: &Field<'_>, request: &Request) -> Option<Rank> {
    let (service, call) = request.path.strip_prefix('/')?.split_once('/')?;
    let method = listed.get("method");
    let is_expression = method.get("type").str() == Some("RegularExpression");
    let fits = |wanted: Option<&str>, there: &str| match wanted {
        None => true,
        Some(wanted) if is_expression => is_match(wanted, there),
        Some(wanted) => wanted == there,
    };
    let (wanted_service, wanted_call) = (method.get("service").str(), method.get("method").str());
    if !fits(wanted_service, service) || !fits(wanted_call, call) {
        return None;
    }
    let length = |wanted: Option<&str>| Reverse(wanted.map_or(0, |wanted| wanted.chars().count()));
    Some(Rank {
        path_length: length(wanted_service),
        method: length(wanted_call),
        headers: Reverse(all_match(&listed.get("headers"), |name| request.header(name))?),
        ..Rank::default()
    })
}

/// How many are asked for, if all are there. Of several with one name the first counts.
fn all_match<'r>(listed: &Field<'_>, value: impl Fn(&str) -> Option<&'r str>) -> Option<usize> {
    let mut names: Vec<String> = Vec::new();
    for wanted in listed.items() {
        let name = wanted.get("name").str().unwrap_or_default().to_ascii_lowercase();
        if names.contains(&name) {
            continue;
        }
        let text = wanted.get("value").str().unwrap_or_default();
        let there = value(wanted.get("name").str().unwrap_or_default())?;
        let fits = match wanted.get("type").str() {
            Some("RegularExpression") => is_match(text, there),
            _ => text == there,
        };
        if !fits {
            return None;
        }
        names.push(name);
    }
    Some(names.len())
}

/// Whether a path lies below a prefix, element by element; a slash at the end of the prefix says nothing.
fn is_below(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether an expression covers a whole text, as Envoy has it.
fn is_match(expression: &str, text: &str) -> bool {
    let compiled = ParsedPattern::parse(&format!("^(?:{expression})$")).and_then(ParsedPattern::compile);
    compiled.is_ok_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn rank(listed: &Value, request: &str) -> Option<Rank> {
        let request = Request::parse(request, &["x-user=alice".to_owned(), "x-team=red".to_owned()])
            .expect("a request");
        http_match(&Field::new(listed), &request)
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
