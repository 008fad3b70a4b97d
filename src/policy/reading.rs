//! From objects to policies: which kinds are policies, and what one of them says.
//!
//! Owns: discovering policy kinds (labels, registry, parameters), reading targets and settings of one policy, and the
//! findings about it.
//! Flows in: objects, profiles, options. Flows out: [`Policy`]s whose targets are not resolved yet.
//! Must not know: topology, other policies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::attachment::{Options, Policy, PolicyId};
use super::leaves::without_nulls;
use super::precedence::{self, Rank};
use super::profile::{Profile, TargetField};
use super::profiles::Profiles;
use super::settings::{self, Problem, Weight};
use super::targets::Declared;
use super::topology::Sources;
use crate::api::policy::{target_refs, target_selectors};
use crate::diagnostic::{Code, Finding, Findings, Severity};
use crate::object::Object;
use crate::object::well_known::POLICY_LABEL;
use apimachinery::GroupKind;

/// The policy kinds of the input with their profiles, sorted by group and kind.
pub(super) fn policy_kinds(sources: Sources<'_>, options: &Options<'_>) -> Vec<Arc<Profile>> {
    let built_in;
    let profiles = match options.profiles {
        Some(profiles) => profiles,
        None => {
            built_in = Profiles::built_in();
            &built_in
        }
    };
    let mut labelled: BTreeMap<GroupKind, String> = BTreeMap::new();
    for (object, _) in sources.of_kind("apiextensions.k8s.io", "CustomResourceDefinition") {
        let spec = object.root().get("spec");
        let (group, kind) = (spec.get("group").str(), spec.get("names").get("kind").str());
        if let (Some(class), Some(group), Some(kind)) = (object.label(POLICY_LABEL), group, kind) {
            labelled.insert(GroupKind::new(group, kind), class.to_owned());
        }
    }
    for kind in options.kinds {
        labelled.entry(kind.clone()).or_insert_with(|| "true".to_owned());
    }
    let mut present: BTreeSet<&GroupKind> = sources.hub.group_kinds().into_iter().collect();
    if let Some((_, local)) = sources.local {
        present.extend(local.group_kinds());
    }
    present
        .into_iter()
        .filter_map(|kind| match (profiles.get(kind), labelled.get(kind)) {
            (Some(profile), _) => Some(Arc::clone(profile)),
            (None, Some(class)) => Some(Arc::new(Profiles::fallback(kind, class))),
            (None, None) => None,
        })
        .collect()
}

/// Reads one policy. Its number goes into its settings.
pub(crate) fn read_policy<'a>(
    object: &'a Object,
    (id, kind, local): (PolicyId, usize, bool),
    profile: Option<&Profile>,
    options: &Options<'_>,
    findings: &mut Findings,
) -> Policy<'a> {
    let mut policy = Policy {
        object,
        kind,
        local,
        rank: Rank {
            age: precedence::age(object, options.ages),
            key: object.key(),
        },
        locator: Arc::from(object.identity().locator()),
        layers: Arc::from(Vec::new()),
        targets: Vec::new(),
        invalid: None,
    };
    let Some(profile) = profile else { return policy };
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
    policy
}

fn read_targets(policy: &mut Policy<'_>, profile: &Profile, findings: &mut Findings) {
    let mut wrong = Findings::new();
    let object = policy.object;
    let spec = object.root().get("spec");
    let references = target_refs(object, &mut wrong);
    let selectors = target_selectors(object, &mut wrong);
    for (field, name) in [
        (TargetField::TargetRef, "targetRef"),
        (TargetField::TargetRefs, "targetRefs"),
        (TargetField::TargetSelectors, "targetSelectors"),
    ] {
        let field_of = spec.get(name);
        if field_of.is_present() && !profile.target_fields.contains(&field) {
            let known: Vec<&str> = profile.target_fields.iter().map(|field| field.name()).collect();
            wrong.push(
                Finding::new(
                    Code::POLICY_INVALID,
                    object.key_place(field_of.pointer()),
                    format!("a {} has no `{name}`", profile.kind),
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
    if policy.targets.is_empty() && wrong.is_empty() && !profile.namespace_wide {
        wrong.push(
            Finding::new(
                Code::POLICY_INVALID,
                object.place("/spec"),
                format!("{} names no target", object.identity()),
            )
            .help(format!(
                "add `{}`",
                profile
                    .target_fields
                    .first()
                    .map_or("targetRef", |field| field.name())
            )),
        );
    }
    policy.invalid = wrong
        .iter()
        .find(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.message.clone());
    findings.extend(wrong.iter().cloned());
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
