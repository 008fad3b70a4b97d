//! What Envoy Gateway refuses of one value, and its messages.

use std::collections::BTreeSet;
use std::net::IpAddr;

use apimachinery::{ParsedPattern, PatternError, Quantity, Url, duration, key_complaints};
use kube_json::Value;
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};

use crate::topology::items;

/// A check of one value: why it is refused.
pub(super) type Check = fn(&Value) -> Option<String>;

/// The check that `refusals.json` names.
pub(super) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Check, D::Error> {
    Ok(match <&str>::deserialize(deserializer)? {
        "authorizedPath" => authorized_path,
        "backOff" => back_off,
        "bandwidth" => bandwidth,
        "buffer" => buffer,
        "earlyRequestHeaders" => |changes| headers(changes, "EarlyRequestHeaders"),
        "expression" => expression,
        "header" => header,
        "lateResponseHeaders" => |changes| headers(changes, "LateResponseHeaders"),
        "limitedPath" => |path| path_match(path, "unable to translate rateLimit: invalid path type."),
        "ofHttp" => of_http,
        "providers" => providers,
        "queryParameter" => query_parameter,
        "rateLimitType" => rate_limit_type,
        "redirectUrl" => redirect_url,
        "statName" => stat_name,
        "tableSize" => table_size,
        "tokenEndpoint" => token_endpoint,
        "units" => units,
        name => return Err(D::Error::custom(format_args!("there is no check `{name}`"))),
    })
}

pub(super) fn no_duration(value: &Value, name: &str) -> Option<String> {
    let text = value.as_str()?;
    let is_read = duration::nanoseconds(text).is_some();
    (!is_read).then(|| match name {
        "" => format!("time: invalid duration \"{text}\""),
        name => format!("invalid {name} value {text}"),
    })
}

pub(super) fn no_number(value: &Value, name: &str) -> Option<String> {
    let number = value.as_i64()?;
    let fits = u32::try_from(number).is_ok();
    (!fits).then(|| format!("invalid {name} value {number}"))
}

pub(super) fn no_size(
    value: &Value,
    name: &str,
    (least, most): (u32, u32),
    shows_bounds: bool,
) -> Option<String> {
    let text = written(value)?;
    let Some(size) = Quantity::parse(&text).ok()?.int64() else {
        return Some(format!("invalid {name} value {text}"));
    };
    let bounds = shows_bounds.then(|| format!(", must be between {least} and {most}"));
    let bounds = bounds.unwrap_or_default();
    let fits = (i64::from(least)..=i64::from(most)).contains(&size);
    (!fits).then(|| format!("{name} value {text} is out of range{bounds}"))
}

pub(super) fn no_cidr(value: &Value, introduction: &str) -> Option<String> {
    let text = value.as_str().filter(|text| !is_cidr(text))?;
    Some(format!("{introduction}invalid CIDR address: {text}"))
}

/// A quantity as it is written.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A text field.
fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field)?.as_str()
}

fn is_true(value: &Value, field: &str) -> bool {
    value.get(field) == Some(&Value::Bool(true))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return false;
    };
    let most = if address.is_ipv4() { 32 } else { 128 };
    let are_digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    are_digits && length.parse::<u32>().is_ok_and(|length| length <= most)
}

/// A text that Go's `regexp.Compile` refuses. What is only too large for us is not refused.
fn no_pattern(text: &str) -> Option<String> {
    let is_wrong = matches!(ParsedPattern::parse(text), Err(PatternError::Syntax(_)));
    is_wrong.then(|| format!("regex \"{text}\" is invalid"))
}

/// A deprecated type of rate limit without its settings.
fn rate_limit_type(limit: &Value) -> Option<String> {
    let field = match text(limit, "type")? {
        "Global" => "global",
        "Local" => "local",
        other => return Some(format!("invalid rateLimit type: {other}")),
    };
    let is_empty = limit.get(field).is_none_or(Value::is_null);
    is_empty.then(|| format!("{field} configuration empty for rateLimit"))
}

fn has_no_selectors(rule: &Value) -> bool {
    items(rule.get("clientSelectors")).is_empty()
}

/// A unit that is not a multiple of that of the default, which is one second if there is no default.
fn units(rules: &Value) -> Option<String> {
    let rules = rules.as_array()?;
    let unit = |rule: &Value| seconds(rule.pointer("/limit/unit")?.as_str()?);
    let default = rules.iter().find(|rule| has_no_selectors(rule));
    let default = default.map_or(Some(1), unit)?;
    let mut others = rules.iter().filter_map(unit);
    others
        .any(|unit| !unit.is_multiple_of(default))
        .then(|| "local rateLimit rule limit unit must be a multiple of the default limit unit".to_owned())
}

/// `envoyproxy/gateway internal/utils/ratelimit/unit.go@v1.9.0`: months have 30 days.
fn seconds(unit: &str) -> Option<u32> {
    Some(match unit {
        "Second" => 1,
        "Minute" => 60,
        "Hour" => 3_600,
        "Day" => 86_400,
        "Week" => 604_800,
        "Month" => 2_592_000,
        "Year" => 31_536_000,
        _ => return None,
    })
}

/// A header match whose type and value do not fit.
fn header(header: &Value) -> Option<String> {
    match (text(header, "type").unwrap_or("Exact"), text(header, "value")) {
        ("Exact", Some(_)) => None,
        ("RegularExpression", Some(pattern)) => no_pattern(pattern),
        ("Distinct", None) => is_true(header, "invert").then(|| {
            "unable to translate rateLimit.Invert is not applicable for distinct header match type".to_owned()
        }),
        _ => Some(
            "unable to translate rateLimit. Either the header.Type is not valid or the header is missing a value"
                .to_owned(),
        ),
    }
}

/// The same of a query parameter.
fn query_parameter(parameter: &Value) -> Option<String> {
    let value = text(parameter, "value");
    let not_applicable = |what: &str| {
        let why = "is not applicable for distinct query parameter match type";
        format!("unable to translate rateLimit.{what} {why}")
    };
    if text(parameter, "name").is_none_or(str::is_empty) {
        return Some("name is required when QueryParamMatch is specified".to_owned());
    }
    match text(parameter, "type").unwrap_or("Exact") {
        kind @ ("Exact" | "RegularExpression") => match value {
            None | Some("") => Some(format!("value is required for {kind} query parameter match")),
            Some(pattern) if kind == "RegularExpression" => no_pattern(pattern),
            Some(_) => None,
        },
        "Distinct" if is_true(parameter, "invert") => Some(not_applicable("Invert")),
        "Distinct" => value.map(|_| not_applicable("Value")),
        other => Some(format!("invalid query parameter match type: {other}")),
    }
}

/// A path match of an authorization rule.
fn authorized_path(path: &Value) -> Option<String> {
    let said = path_match(path, "invalid path type");
    said.map(|said| format!("unable to translate authorization rule: {said}"))
}

/// A path match of another type, or whose expression does not parse.
fn path_match(path: &Value, no_type: &str) -> Option<String> {
    match text(path, "type").unwrap_or("PathPrefix") {
        "PathPrefix" | "Exact" => None,
        "RegularExpression" => no_pattern(text(path, "value")?),
        _ => Some(no_type.to_owned()),
    }
}

/// Less than Envoy's least bandwidth.
fn bandwidth(limits: &Value) -> Option<String> {
    ["request", "response"].into_iter().find_map(|direction| {
        let limit = limits.get(direction)?.get("limit")?;
        let value = written(limit.get("value")?)?;
        let Some(bytes) = Quantity::parse(&value).ok()?.int64() else {
            return Some(format!("{direction} limit value must be convertible to an int64"));
        };
        if bytes < 0 {
            return Some(format!("{direction} limit value must be positive"));
        }
        let unit = text(limit, "unit").unwrap_or_default();
        let seconds = seconds(unit).filter(|_| ["Minute", "Hour"].contains(&unit));
        let least = 1024 * i64::from(seconds.unwrap_or(1));
        let why = "is below the minimum of 1 KiB/s";
        (bytes < least).then(|| format!("{direction}: bandwidth limit of {bytes} bytes per {unit} {why}"))
    })
}

/// The size of the table of a consistent hash, which is a prime.
fn table_size(balancer: &Value) -> Option<String> {
    let size = balancer.pointer("/consistentHash/tableSize")?.as_u64()?;
    let is_hash = text(balancer, "type") == Some("ConsistentHash");
    let fits = size <= 5_000_011 && is_prime(size);
    (is_hash && !fits).then(|| format!("ConsistentHash: invalid TableSize value {size}"))
}

fn is_prime(number: u64) -> bool {
    let mut divisors = (2..).take_while(|divisor: &u64| divisor.saturating_mul(*divisor) <= number);
    number > 1 && divisors.all(|divisor| !number.is_multiple_of(divisor))
}

/// Intervals of retries that do not fit.
fn back_off(back_off: &Value) -> Option<String> {
    let interval = |field: &str| text(back_off, field).and_then(duration::nanoseconds);
    let (base, most) = (interval("baseInterval"), interval("maxInterval"));
    let message = match (base, most) {
        (Some(0), _) => "baseInterval cannot be set to 0s",
        (_, Some(0)) => "maxInterval cannot be set to 0s",
        (Some(base), Some(most)) if base > most => "maxInterval cannot be less than baseInterval",
        _ => return None,
    };
    Some(message.to_owned())
}

/// A buffer for requests that does not fit 32 bits.
fn buffer(limit: &Value) -> Option<String> {
    let text = written(limit)?;
    let Some(size) = Quantity::parse(&text).ok()?.int64() else {
        return Some("limit must be convertible to an int64".to_owned());
    };
    let (fits, most) = (u32::try_from(size).is_ok(), u32::MAX);
    (!fits).then(|| format!("limit value {text} is out of range, must be between 0 and {most}"))
}

/// The operators in the name of a statistic.
const OPERATORS: [&str; 4] = ["ROUTE_NAME", "ROUTE_NAMESPACE", "ROUTE_KIND", "ROUTE_RULE_NAME"];

/// An operator that is not one.
fn stat_name(name: &Value) -> Option<String> {
    let mut rest = name.as_str()?;
    while let Some((_, after)) = rest.split_once('%') {
        let (operator, after) = after.split_once('%')?;
        if !OPERATORS.contains(&operator) {
            return Some(format!(
                "unable to configure Route Stat Name with unsupported operator: %{operator}%"
            ));
        }
        rest = after;
    }
    None
}

/// Headers that are no headers, or changes of none.
fn headers(changes: &Value, name: &str) -> Option<String> {
    let added = ["add", "set", "addIfAbsent"].into_iter().flat_map(|verb| {
        let wrong = items(changes.get(verb)).iter().map(wrong_header);
        wrong.map(move |wrong| wrong.map(|wrong| format!("cannot {verb} a header with {wrong}")))
    });
    let removed = items(changes.get("remove")).iter().map(|removed| {
        let is_empty = removed.as_str() == Some("");
        is_empty.then(|| "cannot remove a header with an empty name".to_owned())
    });
    let matched = items(changes.get("removeOnMatch")).iter().map(|removed| {
        let is_empty = text(removed, "value").is_none_or(str::is_empty);
        is_empty.then(|| "cannot remove a header with an empty matcher value".to_owned())
    });
    let all: Vec<Option<String>> = added.chain(removed).chain(matched).collect();
    let changes_nothing = all.iter().all(Option::is_some);
    let nothing = changes_nothing
        .then(|| "did not provide valid configuration to add/set/remove any headers".to_owned());
    let said = all.into_iter().flatten().chain(nothing);
    let said: Vec<String> = said.map(|said| format!("{name} {said}")).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// What is wrong with a header that is to be added.
fn wrong_header(header: &Value) -> Option<String> {
    let name = text(header, "name").unwrap_or_default();
    let value = text(header, "value").unwrap_or_default();
    if name.is_empty() {
        Some("an empty name".to_owned())
    } else if name.contains(['/', ':']) {
        Some(format!("a '/' or ':' character in them. Header: '\"{name}\"'"))
    } else {
        (!is_header_value(value)).then(|| format!("an invalid value. Header: '\"{name}\"'"))
    }
}

/// RFC 7230: visible characters, and single spaces or tabs between them.
fn is_header_value(value: &str) -> bool {
    let mut words = value.split([' ', '\t']);
    words.all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// Providers of JWTs.
fn providers(providers: &Value) -> Option<String> {
    let mut said = Vec::new();
    let mut names = BTreeSet::new();
    for provider in providers.as_array()? {
        let name = text(provider, "name").unwrap_or_default();
        if name.is_empty() {
            said.push("jwt provider cannot be an empty string".to_owned());
        }
        let issuer = text(provider, "issuer").unwrap_or_default();
        let wrong_form = if issuer.contains(':') {
            Url::parse_request_uri(issuer).is_err().then_some((':', "URI"))
        } else {
            let is_wrong = issuer.contains('@') && !is_address(issuer);
            is_wrong.then_some(('@', "Email Address format"))
        };
        said.extend(wrong_form.map(|(mark, form)| {
            format!("invalid issuer; when issuer contains '{mark}' character, it MUST be a valid {form}")
        }));
        let (remote, local) = (provider.get("remoteJWKS"), provider.get("localJWKS"));
        if remote.is_some() == local.is_some() {
            said.push(format!(
                "either remoteJWKS or localJWKS must be specified for jwt provider: {name}"
            ));
        }
        said.extend(remote.and_then(|remote| remote_keys(remote, name)));
        said.extend(local.and_then(|local| local_keys(local, name)));
        if said.is_empty() {
            said.extend(key_complaints(name));
            if !names.insert(name) {
                said.push(format!("provider name {name} must be unique"));
            }
        }
        for claim in items(provider.get("claimToHeaders")) {
            let is_missing = |field: &&str| text(claim, field).is_none_or(str::is_empty);
            let missing = ["header", "claim"].into_iter().find(is_missing);
            said.extend(missing.map(|field| format!("{field} must be set for claimToHeader provider: ")));
        }
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

fn remote_keys(remote: &Value, name: &str) -> Option<String> {
    match text(remote, "uri") {
        None | Some("") => Some(format!("uri must be set for remote JWKS provider: {name}")),
        Some(uri) if Url::parse_request_uri(uri).is_err() => Some(format!(
            "invalid remote JWKS URI: parse \"{uri}\": invalid URI for request"
        )),
        Some(_) => None,
    }
}

fn local_keys(local: &Value, name: &str) -> Option<String> {
    let kind = text(local, "type").unwrap_or("Inline");
    let field = if kind == "Inline" { "inline" } else { "valueRef" };
    local.get(field).is_none().then(|| match kind {
        "Inline" => format!("inline JWKS must be set for local JWKS provider: {name} if type is Inline"),
        _ => format!("valueRef must be set for local JWKS provider: {name} if type is ValueRef"),
    })
}

/// The endpoint of tokens, which needs a name.
fn token_endpoint(endpoint: &Value) -> Option<String> {
    let endpoint = endpoint.as_str()?;
    let Ok(url) = Url::parse(endpoint) else {
        return Some(format!("error parsing token endpoint URL: parse \"{endpoint}\""));
    };
    let address = url.hostname().split('%').next().unwrap_or_default();
    let is_ip = address.parse::<IpAddr>().is_ok();
    is_ip.then(|| format!("token endpoint URL must be a domain name: {endpoint}"))
}

/// The URL that a login comes back to, which needs a path.
fn redirect_url(url: &Value) -> Option<String> {
    let url = url.as_str()?;
    let known = ["http", "https", "%REQ(x-forwarded-proto)%"];
    let path = url
        .split_once("://")
        .filter(|(scheme, _)| known.contains(scheme))
        .and_then(|(_, rest)| rest.split_once('/'))
        .filter(|(host, path)| !host.is_empty() && !path.is_empty());
    path.is_none().then(|| format!("invalid redirect URL {url}"))
}

/// An expression that is none. What is only too much for us is not refused, and without CEL nothing is.
fn expression(expression: &Value) -> Option<String> {
    let text = expression.as_str()?;
    let is_wrong = matches!(cel_eval::parse(text), Err(cel_eval::Unparsed::Wrong(_)));
    is_wrong.then(|| format!("invalid CEL expression: {text}"))
}

/// A rule about HTTP.
fn of_http(authorization: &Value) -> Option<String> {
    let rules = items(authorization.get("rules")).iter().enumerate();
    rules.into_iter().find_map(|(position, rule)| {
        let principal = rule.get("principal").unwrap_or(&Value::Null);
        let what = if rule.get("cel").is_some() {
            "CEL"
        } else if principal.get("jwt").is_some() {
            "JWT"
        } else if !items(principal.get("headers")).is_empty() {
            "headers"
        } else if !items(principal.get("clientIPGeoLocations")).is_empty() {
            "clientIPGeoLocations"
        } else {
            let ranges = items(principal.get("clientCIDRs")).iter();
            let mut ranges = ranges.filter_map(Value::as_str);
            let wrong = ranges.find(|range| !is_cidr(range))?;
            return Some(format!(
                "rule {position}: invalid ClientCIDR \"{wrong}\": invalid CIDR address: {wrong}"
            ));
        };
        Some(format!("rule {position}: {what} not supported for TCP"))
    })
}

/// Whether Go's `mail.ParseAddress` reads a text (`golang/go src/net/mail/message.go@go1.24.0`). What is more than a plain address is taken for one.
fn is_address(text: &str) -> bool {
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
    let mut parts = [local, domain].into_iter();
    parts.all(|part| part.trim_matches([' ', '\t']).split('.').all(is_atom))
}

#[cfg(test)]
mod tests {
    use super::is_address;

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
