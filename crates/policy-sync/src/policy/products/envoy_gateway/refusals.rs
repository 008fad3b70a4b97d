//! Settings that Envoy Gateway's translation refuses (docs/systems/envoy-gateway.md#refused-settings): `refusals.json` lists
//! which fields are checked, and how; `checks` has the checks that are more than a comparison.
//!
//! CRDs refuse some of these values, too; these rules are also for hubs without CRDs. What only the live system decides is
//! not here: Secrets, ConfigMaps, backends, Wasm and Lua code, and what an issuer answers.
//!
//! The parts of a kind, their order, and their messages are those of its translation, in the files of
//! `envoyproxy/gateway internal/gatewayapi@v1.9.0`: `backendtrafficpolicy.go`, `clienttrafficpolicy.go`, `securitypolicy.go` (in
//! the order for Gateways; another one for routes changes only the order of messages), and `envoyextensionpolicy.go`. The
//! groups are settings of clusters, which a policy may also have for a backend of its own: `clustersettings.go`, `http.go`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use apimachinery::{Field, Work};
use crd_schema::{Condition, Variable};
use kube_json::Value;
use serde::Deserialize;

use super::checks::{Check, named, no_cidr, no_duration, no_number, no_size};
use crate::diagnostic::broken;
use crate::policy::model::Rejection;

/// What traffic is, where a policy applies: some settings are translated only there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// HTTP.
    pub(crate) http: bool,
    /// TLS ends there.
    pub(crate) tls: bool,
}

impl Traffic {
    /// For kinds of which all settings are translated everywhere.
    pub(crate) const ANY: Self = Self {
        http: true,
        tls: true,
    };
}

/// Why settings are refused. All parts of a policy are translated, and all their errors are said.
pub(crate) fn refused(kind: &str, spec: &Value, traffic: Traffic) -> Option<Rejection> {
    let parts = TABLES.kinds.get(kind)?;
    let translated = parts.iter().filter(|part| part.is_translated(traffic));
    checked(translated, spec, "")
}

/// Why a policy of a route is refused before it is translated, so that it does not even take the place of others
/// (`envoyproxy/gateway internal/gatewayapi/securitypolicy.go@v1.9.0`).
pub(crate) fn unfit_for_route(kind: &str, spec: &Value, route: &str) -> Option<Rejection> {
    let (parts, introduction) = match (kind, route) {
        ("SecurityPolicy", "TCPRoute") => (&TABLES.on_tcp_routes, "invalid SecurityPolicy for TCP route: "),
        ("SecurityPolicy", _) => (&TABLES.on_routes, "invalid SecurityPolicy: "),
        _ => return None,
    };
    checked(parts.iter(), spec, introduction)
}

/// What is wrong with one part.
#[derive(Debug)]
struct Complaint {
    part: &'static str,
    message: String,
    pointer: String,
    help: &'static str,
}

/// What is wrong with the parts, in one message: as `errors.Join` puts errors together, and as a condition says them
/// (`envoyproxy/gateway internal/gatewayapi/status/conditions.go@v1.9.0`). The rest is about the first of them.
fn checked<'p>(parts: impl Iterator<Item = &'p Part>, spec: &Value, introduction: &str) -> Option<Rejection> {
    let mut complaints = Vec::new();
    for part in parts {
        part.check(spec, &mut complaints);
    }
    let mut message = introduction.to_owned();
    let mut last: Option<&Complaint> = None;
    for complaint in &complaints {
        if last.is_some() {
            message.push('\n');
        }
        if last.is_none_or(|last| last.part != complaint.part) && !complaint.part.is_empty() {
            message.push_str(complaint.part);
            message.push_str(": ");
        }
        message.push_str(&complaint.message);
        last = Some(complaint);
    }
    let first = complaints.first()?;
    Some(Rejection {
        message: sentence(&message),
        pointer: Some(format!("/spec{}", first.pointer)),
        help: first.help.to_owned(),
        at: None,
    })
}

/// A message as a condition has it: with a capital letter and a period.
pub(crate) fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    let period = (!message.ends_with('.')).then_some('.');
    first.into_iter().chain(characters).chain(period).collect()
}

impl Part {
    fn is_translated(&self, traffic: Traffic) -> bool {
        match self.traffic {
            None => true,
            Some(Needs::Http) => traffic.http,
            Some(Needs::Tls) => traffic.tls,
        }
    }

    /// Checks the part of the settings. It is translated up to its first error, unless its errors are joined.
    fn check(&self, spec: &Value, complaints: &mut Vec<Complaint>) {
        // One part may be listed twice, and then ends at the first error of both.
        if !self.joins && complaints.iter().any(|known| known.part == self.part) {
            return;
        }
        let groups = self.groups.iter().filter_map(|group| TABLES.groups.get(group));
        let rules: Vec<&Rule> = groups.flatten().chain(&self.rules).collect();
        let mut places = Vec::new();
        Field::new(spec).each(self.at, &mut |place| places.push(place.clone()));
        places.retain(|place| !(self.may_fail_open && fails_open(spec, &place.pointer())));
        // Once for all places: there may be thousands of selectors.
        let unless = self.unless.as_ref().filter(|_| !places.is_empty());
        if unless.is_some_and(|unless| unless.is_true(spec, &Field::new(spec))) {
            return;
        }
        for place in &places {
            for rule in &rules {
                let mut settings = Vec::new();
                place.each(rule.at, &mut |setting| settings.push(setting.clone()));
                for setting in settings {
                    let Some(message) = rule.refuses.message(spec, &setting) else {
                        continue;
                    };
                    complaints.push(Complaint {
                        part: self.part,
                        message,
                        pointer: if rule.of_whole { place } else { &setting }.pointer(),
                        help: rule.help(),
                    });
                    if !self.joins {
                        return;
                    }
                }
            }
        }
    }
}

/// Whether requests pass without what is at a place: `failOpen` there, or above it. Without a mistake elsewhere, the rest of
/// the policy applies then.
fn fails_open(spec: &Value, at: &str) -> bool {
    let ends = at
        .match_indices('/')
        .map(|(position, _)| position)
        .chain([at.len()]);
    let mut above = ends.filter_map(|end| spec.pointer(at.get(..end)?));
    above.any(|settings| settings.get("failOpen") == Some(&Value::Bool(true)))
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let tables = serde_json::from_str(include_str!("refusals.json"));
    tables.unwrap_or_else(|error| broken(format_args!("refusals.json: {error}")))
});

#[derive(Debug, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    bound(deserialize = "'de: 'static")
)]
struct Tables {
    /// Rules that several parts have.
    groups: BTreeMap<&'static str, Vec<Rule>>,
    /// The parts of each kind.
    kinds: BTreeMap<&'static str, Vec<Part>>,
    /// What is checked of a SecurityPolicy on a route before it is translated.
    on_routes: Vec<Part>,
    on_tcp_routes: Vec<Part>,
}

/// A part of a policy, or settings of it at one place, that is translated by itself: its errors are reported under its name.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Part {
    part: &'static str,
    /// The places of its settings ([`Field::each`]).
    at: &'static str,
    /// The traffic that it is translated for, if not for any.
    traffic: Option<Needs>,
    /// Whether all of its errors are reported, instead of the first.
    joins: bool,
    /// With what else in the spec it is not translated.
    unless: Option<Expression>,
    /// Whether it is not translated where requests may pass without it.
    may_fail_open: bool,
    groups: Vec<&'static str>,
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Needs {
    Http,
    Tls,
}

/// A rule about one field.
#[derive(Debug, Deserialize)]
struct Rule {
    /// Below the place of the part.
    #[serde(default)]
    at: &'static str,
    /// Whether the finding is about all of the part, as other fields of it matter.
    #[serde(default, rename = "ofWhole")]
    of_whole: bool,
    #[serde(flatten)]
    refuses: Refuses,
    help: Option<&'static str>,
}

/// What is refused.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Refuses {
    /// Texts that Go's `time.ParseDuration` does not read, under this name.
    Duration(&'static str),
    /// Numbers that are no uint32, under this name.
    Number(&'static str),
    /// Sizes of bytes outside of bounds, under this name; whether the message has the bounds.
    Bytes(&'static str, u32, u32, bool),
    /// What Go's `net.ParseCIDR` does not read, after this introduction.
    Cidr(&'static str),
    /// Texts that are not in a list, after this introduction.
    Listed(&'static str, Vec<&'static str>),
    /// Settings of which an expression is true, with this message.
    If(Expression, String),
    /// What a function reports.
    #[serde(deserialize_with = "named")]
    Check(Check),
}

impl Refuses {
    fn message(&self, spec: &Value, setting: &Field<'_>) -> Option<String> {
        let value = setting.value()?;
        match self {
            Self::Duration(name) => no_duration(value, name),
            Self::Number(name) => no_number(value, name),
            Self::Bytes(name, least, most, shows_bounds) => {
                no_size(value, name, (*least, *most), *shows_bounds)
            }
            Self::Cidr(introduction) => no_cidr(value, introduction),
            Self::Listed(introduction, texts) => {
                let text = value.as_str().filter(|text| !texts.contains(text))?;
                Some(format!("{introduction}{text}"))
            }
            Self::If(condition, message) => condition.is_true(spec, setting).then(|| message.clone()),
            Self::Check(check) => check(value),
        }
    }
}

impl Rule {
    /// Its own help, or that of all rules that refuse the same.
    fn help(&self) -> &'static str {
        let usual = match self.refuses {
            Refuses::Duration(_) => "write a duration such as `10s`, `500ms`, or `1m30s`",
            Refuses::Number(_) => "write a number from 0 to 4294967295",
            Refuses::Cidr(_) => "write a range such as `10.0.0.0/8` or `2001:db8::/32`",
            Refuses::Bytes(_, 0, ..) => "write a size from 0 to 4294967295 bytes",
            Refuses::Bytes(..) => "write a size from 65535 to 2147483647 bytes",
            Refuses::Listed(..) | Refuses::If(..) | Refuses::Check(_) => "",
        };
        self.help.unwrap_or(usual)
    }
}

/// An expression of CEL, compiled when it is first needed: of `self`, the spec, and `it`, the setting.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Expression {
    text: &'static str,
    #[serde(skip)]
    compiled: OnceLock<Condition>,
}

impl Expression {
    /// Without a value, for settings of another type, nothing is refused: their schema reports that.
    fn is_true(&self, spec: &Value, setting: &Field<'_>) -> bool {
        let work = Work::default();
        let condition = self.compiled.get_or_init(|| {
            let compiled = Condition::compile(self.text, &["self", "it"], &work);
            compiled.unwrap_or_else(|error| broken(format_args!("{}: {error}", self.text)))
        });
        // A large spec must not become a value of CEL for each of its settings.
        let spec = Some(spec).filter(|_| condition.has_variable("self"));
        let [spec, setting] =
            [spec, setting.value()].map(|value| Variable::from(value.unwrap_or(&Value::Null)));
        let variables = [("self", &spec), ("it", &setting)];
        condition.evaluate(&variables, &mut work.allowance_of(0)) == Ok(true)
    }
}
