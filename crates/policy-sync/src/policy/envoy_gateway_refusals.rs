//! Settings that Envoy Gateway's translation refuses (docs/systems/envoy-gateway.md#refused-settings).
//!
//! Owns: the rules, as tables: which fields, what is refused there, the controller's message. Flows in: the settings of a
//! policy. Flows out: a [`Refusal`]. Must not know: targets, other objects.
//!
//! CRDs refuse some of these values, too; these rules are also for hubs without CRDs.
//! Each table names its source. What only the live system decides is not here: Secrets, ConfigMaps, backends, Wasm and Lua
//! code, and what an issuer answers.

mod checks;
mod mail_address;
mod tables;

use kube_json::Value;

use apimachinery::pointer;
use tables::{Needs, Part, parts};

/// Why the controller refuses a policy.
#[derive(Debug)]
pub(super) struct Refusal {
    /// In its words.
    pub(super) message: String,
    /// Where in the policy: the first place.
    pub(super) pointer: String,
    /// How to fix that.
    pub(super) help: String,
}

/// What traffic is, where a policy applies: some settings are translated only there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traffic {
    /// HTTP.
    pub(super) http: bool,
    /// TLS ends there.
    pub(super) tls: bool,
}

impl Traffic {
    /// For kinds of which all settings are translated everywhere.
    pub(super) const ANY: Self = Self {
        http: true,
        tls: true,
    };
}

/// Why settings are refused. All parts of a policy are translated, and all their errors are said.
pub(super) fn refused(kind: &str, spec: &Value, traffic: Traffic) -> Option<Refusal> {
    let is_translated = |part: &&Part| match part.needs {
        Needs::Nothing => true,
        Needs::Http => traffic.http,
        Needs::Tls => traffic.tls,
    };
    let mut complaints = Complaints::default();
    for part in parts(kind).iter().filter(is_translated) {
        part.check(spec, &mut complaints);
    }
    complaints.into_refusal("")
}

/// Why a policy of a route is refused before it is translated, so that it does not even take the place of others.
pub(super) fn unfit_for_route(kind: &str, spec: &Value, route: &str) -> Option<Refusal> {
    let (part, said) = tables::of_route(kind, route)?;
    let mut complaints = Complaints::default();
    part.check(spec, &mut complaints);
    complaints.into_refusal(said)
}

/// What is wrong with one part.
#[derive(Debug)]
struct Complaint {
    part: &'static str,
    message: String,
    pointer: String,
    help: &'static str,
}

#[derive(Debug, Default)]
struct Complaints(Vec<Complaint>);

impl Complaints {
    fn has(&self, part: &str) -> bool {
        self.0.iter().any(|complaint| complaint.part == part)
    }

    /// As `errors.Join` puts errors together, and as a condition says them
    /// (`envoyproxy/gateway internal/gatewayapi/status/conditions.go@v1.9.0`).
    fn into_refusal(self, introduction: &str) -> Option<Refusal> {
        let mut message = String::new();
        let mut last = None;
        for complaint in &self.0 {
            if !message.is_empty() {
                message.push('\n');
            }
            if last != Some(complaint.part) && !complaint.part.is_empty() {
                message.push_str(complaint.part);
                message.push_str(": ");
            }
            message.push_str(&complaint.message);
            last = Some(complaint.part);
        }
        message.insert_str(0, introduction);
        let first = self.0.into_iter().next()?;
        Some(Refusal {
            message: sentence(&message),
            pointer: format!("/spec{}", first.pointer),
            help: first.help.to_owned(),
        })
    }
}

/// A message as a condition has it: with a capital letter and a period.
pub(super) fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    let period = (!message.ends_with('.')).then_some('.');
    first.into_iter().chain(characters).chain(period).collect()
}

impl Part {
    /// Checks the part of the settings. It is translated up to its first error, unless its errors are joined.
    fn check(&self, spec: &Value, complaints: &mut Complaints) {
        // One part may be listed twice, and then ends at the first error of both.
        if complaints.has(self.name) && !self.joins {
            return;
        }
        for (base, rules) in self.rules {
            let mut found = Vec::new();
            each(spec, base, String::new(), &mut found);
            for (base, settings) in found {
                if (self.unless)(spec, &base) {
                    continue;
                }
                for rule in rules.iter().copied().flatten() {
                    let mut values = Vec::new();
                    each(settings, rule.at, base.clone(), &mut values);
                    for (pointer, value) in values {
                        let Some(message) = rule.refuses.message(value) else {
                            continue;
                        };
                        complaints.0.push(Complaint {
                            part: self.name,
                            message,
                            pointer,
                            help: rule.help,
                        });
                        if !self.joins {
                            return;
                        }
                    }
                }
            }
        }
    }
}

/// All values at a pointer in which `*` stands for each element or member.
fn each<'v>(value: &'v Value, at: &str, pointer: String, found: &mut Vec<(String, &'v Value)>) {
    let Some(rest) = at.strip_prefix('/') else {
        if !value.is_null() {
            found.push((pointer, value));
        }
        return;
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (step, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
    match value {
        Value::Array(items) if step == "*" => {
            for (position, item) in items.iter().enumerate() {
                each(item, rest, pointer::child(&pointer, &position.to_string()), found);
            }
        }
        Value::Object(members) if step == "*" => {
            for (name, member) in members {
                each(member, rest, pointer::child(&pointer, name), found);
            }
        }
        value => {
            if let Some(member) = value.get(step) {
                each(member, rest, pointer::child(&pointer, step), found);
            }
        }
    }
}

#[cfg(test)]
mod tests;
