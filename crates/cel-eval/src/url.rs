//! Kubernetes' functions of URLs.
//!
//! `kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/cel/library/urls.go@v1.34.1`

use std::collections::HashMap;
use std::sync::Arc;

use apimachinery::Url;
use kube_cel::cel::objects::{Key, Map, Opaque};
use kube_cel::cel::{ExecutionError, Value};

/// A URL as a value.
#[derive(Debug, PartialEq, Eq)]
struct UrlValue(Url);

impl Opaque for UrlValue {
    fn runtime_type_name(&self) -> &'static str {
        "kubernetes.URL"
    }
}

/// The URL that a value is.
pub(crate) fn url(value: &Value) -> Option<&Url> {
    match value {
        Value::Opaque(of) => of.downcast_ref::<UrlValue>().map(|UrlValue(url)| url),
        _ => None,
    }
}

/// The value of a function of URLs; `None` if there is no such function.
pub(crate) fn called(name: &str, operands: &[&Value]) -> Option<Result<Value, ExecutionError>> {
    let of = |read: fn(&Url) -> Value| match operands {
        [value] => url(value).map(read).ok_or(ExecutionError::NoSuchOverload),
        _ => Err(ExecutionError::NoSuchOverload),
    };
    Some(match (name, operands) {
        ("isURL", [Value::String(text)]) => Ok(Value::Bool(parse(text).is_ok())),
        ("url", [Value::String(text)]) => parse(text)
            .map(|url| Value::Opaque(Arc::new(UrlValue(url))))
            .map_err(|problem| {
                let message = format!("URL parse error during conversion from string: {problem}");
                ExecutionError::function_error("url", message)
            }),
        ("isURL" | "url", _) => Err(ExecutionError::NoSuchOverload),
        ("getScheme", _) => of(|url| Value::from(url.scheme())),
        ("getHost", _) => of(|url| Value::from(url.host())),
        ("getHostname", _) => of(|url| Value::from(url.hostname())),
        ("getPort", _) => of(|url| Value::from(url.port())),
        ("getEscapedPath", _) => of(|url| Value::from(url.escaped_path())),
        ("getQuery", _) => of(query),
        _ => return None,
    })
}

/// Kubernetes reads a text twice: only the first reading wants a scheme or a slash, and only the second knows fragments.
fn parse(text: &str) -> Result<Url, &'static str> {
    Url::parse_request_uri(text).and_then(|_| Url::parse(text))
}

/// A list of values for each name.
fn query(url: &Url) -> Value {
    let mut values: HashMap<String, Vec<Value>> = HashMap::new();
    for (name, value) in url.query() {
        values.entry(name).or_default().push(Value::from(value));
    }
    let entries = values
        .into_iter()
        .map(|(name, values)| (Key::from(name), Value::from(values)));
    Value::Map(Map {
        map: Arc::new(entries.collect()),
    })
}
