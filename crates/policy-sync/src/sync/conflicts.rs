//! Findings about policies of one kind on one target: of the hub, or of the hub and a cluster.

use std::collections::BTreeMap;

use kube_json::Value;

use super::ambiguous::{Meeting, undecided, way_out};
use super::local_policies::{LocalPolicies, LocalPolicy, beside_local};
use super::order_independence::{commute, is_order_independent};
use super::same_target::{Resolution, resolve};
use crate::diagnostic::{Code, Finding, Findings, Place, Severity, counted};
use crate::object::well_known::ORIGIN_CREATION;
use crate::policy::{Attachments, Entry, KindId, PolicyId, Profile, SameTarget, disagree, meet};
use crate::topology::Node;

/// Two policies of one kind on one target: each that is not the first choice, with the winner and the rule. Needs no
/// effective policies.
///
/// `shipped` tells whether the kind is synced with a node. If it is not, the result is decided on the hub, where every
/// policy has its creation time.
pub fn report_same_target(
    attachments: &Attachments<'_>,
    shipped: impl Fn(KindId, Node) -> bool,
    findings: &mut Findings,
) {
    for (kind, known) in attachments.kinds.iter() {
        if known.profile.same_target == SameTarget::AddUp {
            continue;
        }
        let several = known.nodes.iter();
        let several =
            several.filter(|(_, placed)| placed.accepted.len().saturating_add(placed.rejected.len()) > 1);
        let mut said = PerReason::new();
        for node in several.map(|(node, _)| *node) {
            let Some(resolution) = resolve(attachments, kind, node) else {
                continue;
            };
            match resolution.undecided {
                Some(pair) => {
                    findings.extend(two_of_the_hub(
                        attachments,
                        (kind, node),
                        pair,
                        shipped(kind, node),
                    ));
                }
                None => one_target(attachments, (&known.profile, node), &resolution, &mut said),
            }
        }
        findings.extend(said.into_findings());
    }
}

/// What to do about two policies of which neither overrides the other.
const WRITE_ONE: &str = "write one policy, or target another section";

/// Another policy of the target, and what it does to this one.
type Reason = (PolicyId, &'static str);

fn two_of_the_hub(
    attachments: &Attachments<'_>,
    (kind, node): (KindId, Node),
    pair: [PolicyId; 2],
    shipped: bool,
) -> Option<Finding> {
    let known = attachments.kinds.get(kind);
    let entries = attachments.on(kind, node);
    let meeting = |id: PolicyId| {
        let entry = entries.iter().find(|entry| entry.policy == id)?;
        Some(synced_meeting(attachments, entry, node))
    };
    let [one, other] = pair.map(meeting);
    let target = attachments.topology.described(node);
    let (one, other) = (one?, other?);
    let mut finding = undecided(&known.profile, &target, &one, &other);
    if !shipped {
        finding.code = Code::POLICY_SAME_TARGET;
        finding.severity = Severity::Warning;
    }
    Some(finding.help(way_out(&known.profile, &one, &other)))
}

fn one_target(
    attachments: &Attachments<'_>,
    (profile, node): (&Profile, Node),
    resolution: &Resolution,
    said: &mut PerReason<Reason>,
) {
    let target = attachments.topology.described(node);
    let place = |id: PolicyId| reference_place(attachments, id, node);
    let name = |id: PolicyId| attachments.policy(id).object.identity();
    let mut push = |[policy, other]: [PolicyId; 2], rule, [label, related, help]: [&str; 3], note: String| {
        let message = format!("{} and {} both target {target}", name(policy), name(other));
        let finding = Finding::new(Code::POLICY_SAME_TARGET, place(policy), message)
            .label(label)
            .related(place(other), related)
            .note(note)
            .help(help);
        said.push((other, rule), finding);
    };
    for displaced in &resolution.displaced {
        let (by, rule) = (displaced.by, displaced.rule);
        let note = format!("{} wins because {} ({})", name(by), rule.because(), rule.name());
        let help = "remove one of the two, merge them, or target another section";
        let texts = ["this one is overridden", "this one takes precedence", help];
        push([displaced.policy, by], rule.name(), texts, note);
    }
    for synced in &resolution.synced {
        let winner = synced.policy;
        for source in synced.sources().into_iter().filter(|source| *source != winner) {
            let texts = [
                "merged into the other one",
                "the merged policy has this name",
                WRITE_ONE,
            ];
            let note = format!("one policy with the name of {}", name(winner));
            push([source, winner], "merged", texts, note);
        }
    }
    let mut synced = resolution.synced.iter();
    let note = match profile.same_target {
        SameTarget::Merge if synced.any(|synced| attachments.refuses(synced.policy, node, None)) => {
            "the controller refuses one of them, and answers requests with an error".to_owned()
        }
        SameTarget::Merge => "both apply, regardless of which is created first".to_owned(),
        SameTarget::Unknown => format!(
            "what the controller of {} makes of both is not known",
            profile.kind
        ),
        SameTarget::Reject | SameTarget::PerField | SameTarget::AddUp => return,
    };
    if let [first, others @ ..] = resolution.synced.as_slice() {
        for other in others {
            let texts = ["this one is shipped", "and so is this one", WRITE_ONE];
            push([other.policy, first.policy], "both", texts, note.clone());
        }
    }
}

/// What local policies and synced ones, or local ones among themselves, come to, where that depends on which was
/// created first and nothing says which was.
pub fn report_local_conflicts(
    attachments: &Attachments<'_>,
    locals: &LocalPolicies<'_>,
    findings: &mut Findings,
) {
    for (kind, node) in locals.targets() {
        let profile = attachments.kinds.get(kind).profile.as_ref();
        if matches!(profile.same_target, SameTarget::AddUp | SameTarget::Unknown) {
            continue;
        }
        let there = locals.on(kind, node);
        let target = attachments.topology.described(node);
        let target = format!("{target} on cluster {}", locals.cluster);
        for (at, one) in there.iter().enumerate() {
            for other in there.iter().skip(at.saturating_add(1)) {
                findings.extend(local_pair(profile, &target, one, other));
            }
        }
        if profile.same_target == SameTarget::Merge {
            findings.extend(beside_locals(attachments, (kind, node), &target, &there));
        }
    }
}

fn local_pair(
    profile: &Profile,
    target: &str,
    one: &LocalPolicy<'_>,
    other: &LocalPolicy<'_>,
) -> Option<Finding> {
    let has_time = |local: &LocalPolicy<'_>| {
        let created = local.object.value.pointer("/metadata/creationTimestamp");
        created.is_some_and(Value::is_string) || local.object.annotation(ORIGIN_CREATION).is_some()
    };
    if has_time(one) && has_time(other) {
        return None;
    }
    let meeting =
        |local: &LocalPolicy<'_>| Meeting::new(local.object, local.object.place("/metadata"), &local.entry);
    let (one, other) = if has_time(one) { (one, other) } else { (other, one) };
    let (own, theirs) = (&one.entry.layers, &other.entry.layers);
    let add_up = profile.same_target == SameTarget::PerField
        && !meet(profile, own, theirs)
        && !disagree(profile, own, theirs);
    if add_up || commute(profile, &[one.entry.clone(), other.entry.clone()]) {
        return None;
    }
    let finding = undecided(profile, target, &meeting(other), &meeting(one));
    Some(
        finding
            .severity(Severity::Warning)
            .help("add `metadata.creationTimestamp` as the cluster has it"),
    )
}

/// What is left of the synced policies comes to the same beside local ones in any order: [`without_rules_of`] sees to
/// that. Here it is checked, on the very specs that are shipped.
///
/// [`without_rules_of`]: super::local_policies
fn beside_locals(
    attachments: &Attachments<'_>,
    (kind, node): (KindId, Node),
    target: &str,
    there: &[&LocalPolicy<'_>],
) -> Option<Finding> {
    let profile = attachments.kinds.get(kind).profile.as_ref();
    let resolution = resolve(attachments, kind, node)?;
    let synced: Vec<Entry> = resolution
        .synced
        .into_iter()
        .filter_map(|mut synced| {
            synced.spec = beside_local(attachments, &synced, there)?;
            synced.entry(attachments)
        })
        .collect();
    let locals: Vec<Entry> = there.iter().map(|local| local.entry.clone()).collect();
    let (first, local) = (synced.first()?, there.first()?);
    if is_order_independent(profile, &synced, &synced, &locals) {
        return None;
    }
    let synced = synced_meeting(attachments, first, node);
    let local = Meeting::new(local.object, local.object.place("/spec"), &local.entry);
    let finding = undecided(profile, target, &synced, &local);
    Some(finding.help("remove the settings that both have from one of the two"))
}

fn synced_meeting(attachments: &Attachments<'_>, entry: &Entry, node: Node) -> Meeting {
    let place = reference_place(attachments, entry.policy, node);
    Meeting::new(attachments.policy(entry.policy).object, place, entry)
}

fn reference_place(attachments: &Attachments<'_>, id: PolicyId, node: Node) -> Place {
    let policy = attachments.policy(id);
    let declared = policy.targets_at(node).next();
    let pointer = declared.map_or("/spec", |declared| declared.pointer.as_str());
    policy.object.place(pointer)
}

/// Findings by place and reason, in the order of their first targets.
///
/// A selector is in one place and may select a thousand Gateways, so the first finding with each reason stands for all.
pub(super) struct PerReason<R> {
    findings: Vec<(Finding, usize)>,
    first: BTreeMap<(Place, R), usize>,
}

impl<R: Ord> PerReason<R> {
    pub(super) const fn new() -> Self {
        Self {
            findings: Vec::new(),
            first: BTreeMap::new(),
        }
    }

    /// Adds the findings about one more target.
    pub(super) fn push(&mut self, reason: R, finding: Finding) {
        let next = self.findings.len();
        let first = *self.first.entry((finding.place.clone(), reason)).or_insert(next);
        match self.findings.get_mut(first) {
            Some((_, more)) => *more = more.saturating_add(1),
            None => self.findings.push((finding, 0)),
        }
    }

    pub(super) fn into_findings(self) -> impl Iterator<Item = Finding> {
        self.findings.into_iter().map(|(finding, more)| match more {
            0 => finding,
            more => finding.note(format!("the same is true of {}", counted(more, "more target"))),
        })
    }
}
