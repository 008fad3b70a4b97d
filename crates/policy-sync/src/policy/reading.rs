//! Reads one object as a policy.
//!
//! Owns: reading targets and settings of one policy, and the findings about it.
//! Flows in: objects, profiles, options. Flows out: [`Policy`]s whose targets are not resolved yet.
//! Must not know: topology, other policies.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_json::Value;

use super::declared_target::Declared;
use super::ids::{KindId, PolicyId};
use super::leaves::without_nulls;
use super::one_policy::{Authored, Policy};
use super::options::Options;
use super::profile::Profile;
use super::settings::{self, Problem, Weight};
use super::targeting::Targeting;
use crate::api::policy::{target_refs, target_selectors};
use crate::api::targeting::TargetField;
use crate::diagnostic::{Code, Finding, Findings, Severity, nearest, with_article};
use crate::object::{Object, Rank, rank_of};

/// Reads one policy. Its number goes into its settings.
pub(crate) fn read_policy<'a>(
    object: &'a Object,
    (id, kind, local): (PolicyId, KindId, bool),
    profile: &Profile,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Policy<'a> {
    // Beside policies of a version that the profile describes: its rules are not those of this one.
    let undescribed = (!profile.describes(&object.api_version.version)).then(|| Profile {
        targeting: Targeting::unknown(),
        ..profile.undescribed()
    });
    let profile = undescribed.as_ref().unwrap_or(profile);
    let mut policy = Policy {
        object,
        kind,
        local,
        rank: Rank {
            priority: priority(object, profile),
            ..rank_of(object, options.ages)
        },
        layers: Arc::from(Vec::new()),
        targets: Vec::new(),
        invalid: None,
        // Objects that live on a cluster were accepted there.
        inadmissible: options
            .refused
            .filter(|_| !local)
            .and_then(|refused| refused(object)),
        authored: Vec::new(),
        settings: BTreeMap::new(),
    };
    read_targets(&mut policy, profile, findings);
    let interpreted = options.interpret.and_then(|interpret| interpret(object));
    let spec = interpreted.as_ref().unwrap_or(&object.value).get("spec");
    let spec = match (spec, &interpreted) {
        (Some(spec), Some(_)) => std::borrow::Cow::Borrowed(spec),
        (Some(spec), None) => without_nulls(spec),
        (None, _) => std::borrow::Cow::Owned(Value::Null),
    };
    let read = settings::read(&spec, profile, id);
    policy.layers = Arc::from(read.layers);
    for problem in read.problems {
        report(&mut policy, problem, findings);
    }
    policy.authored = vec![Authored {
        object,
        locator: Arc::from(object.identity().locator()),
        layers: Arc::clone(&policy.layers),
        rank: policy.rank.clone(),
    }];
    policy
}

/// The number by which a kind orders its policies, the lowest first; none is 0.
fn priority(object: &Object, profile: &Profile) -> i64 {
    if let Some(annotation) = &profile.weight_annotation {
        let weight = object
            .annotation(annotation)
            .and_then(|weight| weight.parse::<i32>().ok());
        return weight.map_or(0, |weight| i64::from(weight).saturating_neg());
    }
    let field = profile.priority_field.as_ref();
    let value = field.and_then(|field| object.value.get("spec")?.get(field)?.as_i64());
    value.unwrap_or_default()
}

fn read_targets(policy: &mut Policy<'_>, profile: &Profile, findings: &mut Findings) {
    let mut wrong = Findings::new();
    let object = policy.object;
    let spec = object.root().get("spec");
    let references = target_refs(object, &mut wrong);
    let selectors = target_selectors(object, &mut wrong);
    let fields = &profile.targeting.fields;
    for field in TargetField::ALL {
        let name = field.name();
        let field_of = spec.get(name);
        if field_of.is_present() && !fields.contains(&field) {
            let known: Vec<&str> = fields.iter().map(|field| field.name()).collect();
            wrong.push(
                Finding::new(
                    Code::POLICY_INVALID,
                    object.key_place(&field_of.pointer()),
                    format!("{} has no `{name}`", with_article(&profile.kind)),
                )
                .help(format!("use `{}`", known.join("` or `"))),
            );
        }
    }
    policy.targets = references
        .iter()
        .map(Declared::reference)
        .chain(selectors.iter().map(Declared::selector))
        .collect();
    if policy.targets.is_empty()
        && wrong.is_empty()
        && profile.targeting.is_required
        && !profile.namespace_wide
        && !profile.of_workloads
    {
        wrong.push(without_target(object, fields));
    }
    policy.invalid = wrong
        .iter()
        .find(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.message.to_string());
    findings.extend(wrong.iter().cloned());
}

/// A policy whose kind must name a target, and that names none: perhaps by a key that is misspelled, which then is no
/// ignored field beside that.
fn without_target(object: &Object, fields: &[TargetField]) -> Finding {
    let finding = |place| {
        let message = format!("{} names no target", object.identity());
        Finding::new(Code::POLICY_INVALID, place, message)
    };
    let names = || fields.iter().map(|field| field.name());
    let spec = object.root().get("spec");
    let mut unknown = spec
        .entries()
        .filter(|(key, _)| !names().any(|name| name == *key));
    let misspelled = unknown.find_map(|(key, field)| Some((field, nearest(key, names())?)));
    match misspelled {
        Some((field, meant)) => {
            let pointer = field.pointer();
            finding(object.key_place(&pointer))
                .help(format!("did you mean `{meant}`?"))
                .settles(object.field(&pointer))
        }
        None => {
            let field = names().next().unwrap_or("targetRef");
            finding(object.place("/spec")).help(format!("add `{field}`"))
        }
    }
}

fn report(policy: &mut Policy<'_>, problem: Problem, findings: &mut Findings) {
    let place = policy.object.key_place(&problem.pointer);
    let finding = match problem.weight {
        Weight::Invalid => {
            policy.invalid.get_or_insert_with(|| problem.message.clone());
            Finding::new(Code::POLICY_INVALID, place, problem.message)
        }
        Weight::Meaningless => {
            Finding::new(Code::POLICY_INVALID, place, problem.message).severity(Severity::Warning)
        }
        Weight::Ignored => Finding::new(Code::POLICY_IGNORED_FIELD, place, problem.message),
    };
    findings.push(finding.help(problem.help));
}
