//! A match of a rule of an HTTPRoute or a GRPCRoute, with the defaults of what it leaves out.

use std::borrow::Cow;

use kube_json::Value;

use crate::object::Object;

/// One match of a rule. Routes of other kinds match by hostname or by port alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RouteMatch<'a> {
    /// The type of the path, or of the method of a GRPCRoute.
    pub(crate) kind: &'a str,
    /// The path, or the service of a GRPCRoute.
    pub(crate) path: Option<Cow<'a, str>>,
    /// The method.
    pub(crate) method: Option<&'a str>,
    /// The headers.
    pub(crate) headers: Vec<NamedMatch<'a>>,
    /// The parameters of the query.
    pub(crate) parameters: Vec<NamedMatch<'a>>,
}

/// What a header or a parameter must be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NamedMatch<'a> {
    pub(crate) name: Cow<'a, str>,
    /// The type of the match.
    pub(crate) kind: &'a str,
    pub(crate) value: &'a str,
}

impl<'a> RouteMatch<'a> {
    /// The matches of the rule of a route at a position. One that is not written, as an HTTPRoute without rules has, matches
    /// everything.
    pub(crate) fn from_route(route: &'a Object, position: usize) -> Vec<Self> {
        let rule = items(route.value.pointer("/spec/rules")).get(position);
        Self::from_rule(&route.kind, rule.unwrap_or(&Value::Null))
    }

    /// The matches of a rule of a kind of routes. A rule without any has one, which matches everything.
    pub(crate) fn from_rule(kind: &str, rule: &'a Value) -> Vec<Self> {
        match items(rule.get("matches")) {
            // An HTTPRoute's default is the prefix `/` (docs/systems/gateway-api.md#attachment); a GRPCRoute's is any
            // call.
            [] => vec![Self::read(kind, &Value::Null)],
            matches => matches.iter().map(|written| Self::read(kind, written)).collect(),
        }
    }

    fn read(kind: &str, written: &'a Value) -> Self {
        let text = |part: Option<&'a Value>, name: &str| part?.get(name)?.as_str();
        let named = |list: &str| {
            let entries = items(written.get(list)).iter().map(|entry| NamedMatch {
                name: Cow::Borrowed(text(Some(entry), "name").unwrap_or_default()),
                kind: text(Some(entry), "type").unwrap_or("Exact"),
                value: text(Some(entry), "value").unwrap_or_default(),
            });
            entries.collect()
        };
        let (path, method) = (written.get("path"), written.get("method"));
        match kind {
            "HTTPRoute" => Self {
                kind: text(path, "type").unwrap_or("PathPrefix"),
                path: Some(Cow::Borrowed(text(path, "value").unwrap_or("/"))),
                method: text(Some(written), "method"),
                headers: named("headers"),
                parameters: named("queryParams"),
            },
            "GRPCRoute" => Self {
                kind: text(method, "type").unwrap_or("Exact"),
                path: text(method, "service").map(Cow::Borrowed),
                method: text(method, "method"),
                headers: named("headers"),
                parameters: Vec::new(),
            },
            _ => Self::default(),
        }
    }

    /// The path; without one, any.
    pub(crate) fn path(&self) -> &str {
        self.path.as_deref().unwrap_or("/")
    }

    /// The same in one form: two that are equal match the same requests.
    pub(crate) fn normalized(mut self) -> Self {
        // `/a/` and `/a` are one prefix.
        if let Some(path) = self.path.as_mut().filter(|_| self.kind == "PathPrefix")
            && path.ends_with('/')
        {
            *path = Cow::Owned(path.trim_end_matches('/').to_owned());
        }
        for header in &mut self.headers {
            if header.name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                header.name.to_mut().make_ascii_lowercase();
            }
        }
        for list in [&mut self.headers, &mut self.parameters] {
            list.sort_by(|one, other| one.name.cmp(&other.name));
            // Of several entries with one name the first counts.
            list.dedup_by(|one, first| one.name == first.name);
        }
        self
    }
}

/// The items of a list; none if it is absent or no list.
pub(crate) fn items(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
