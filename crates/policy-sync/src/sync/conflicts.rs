//! Findings about policies of one kind on one target, of the hub, or of the hub and a cluster: which one wins, and both
//! results where that depends on which is created first.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::Hash;

use indexmap::IndexMap;
use kube_json::Value;

use super::local_policies::{LocalPolicies, LocalPolicy, beside_local};
use super::same_target::{
    ABOVE, FOREIGN, Resolution, another, another_setting, commute, is_order_independent, merged, pairs,
    probes, resolve, shipped,
};
use crate::api::policy::TargetRef;
use crate::diagnostic::{Code, Finding, Findings, Place, Severity, counted};
use crate::object::Object;
use crate::object::well_known::ORIGIN_CREATION;
use crate::policy::{
    Attachments, Content, Entry, KindId, Layer, PolicyId, Profile, SameTarget, Strategy, Wrappers, disagree,
    meet, strategy_word,
};
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
        // All of them apply, which is what their authors expect.
        if known.profile.same_target == SameTarget::AddUp {
            continue;
        }
        let mut said = PerReason::new();
        for (node, placed) in &known.nodes {
            let node = *node;
            if placed.accepted.len().saturating_add(placed.rejected.len()) < 2 {
                continue;
            }
            let Some(resolution) = resolve(attachments, kind, node) else {
                continue;
            };
            match resolution.undecided {
                Some(pair) => {
                    let shipped = shipped(kind, node);
                    findings.extend(two_of_the_hub(attachments, (kind, node), pair, shipped));
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
    let contender = |id: PolicyId| {
        let entry = entries.iter().find(|entry| entry.policy == id)?;
        Some(synced_contender(attachments, entry, node))
    };
    let [one, other] = pair.map(contender);
    let target = attachments.topology.described(node);
    let (one, other) = (one?, other?);
    let mut finding = undecided(&known.profile, &target, &one, &other);
    if !shipped {
        // On the hub, each policy has its creation time, and its controller decides by that.
        finding.code = Code::POLICY_SAME_TARGET;
        finding.severity = Severity::Warning;
    }
    let finding = finding.help(conflict_help(&known.profile, &one, &other));
    Some(follows_from_empty(finding, attachments, pair, node))
}

/// Two policies may share a target only because a field of the reference is empty.
fn follows_from_empty(
    finding: Finding,
    attachments: &Attachments<'_>,
    pair: [PolicyId; 2],
    node: Node,
) -> Finding {
    let policies = pair.into_iter().map(|id| attachments.policy(id));
    let empty = policies.filter_map(|policy| {
        let declared = policy.targets_at(node).next();
        declared.map(|declared| TargetRef::empty_fields(policy.object, &declared.pointer))
    });
    empty.flatten().fold(finding, Finding::follows_from)
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
        let finding = follows_from_empty(finding, attachments, [policy, other], node);
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
        SameTarget::Unknown => {
            let kind = &profile.kind;
            format!("what the controller of {kind} makes of both is not known")
        }
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
        let pairs = pairs(&there);
        findings.extend(pairs.filter_map(|[one, other]| local_pair(profile, &target, one, other)));
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
    // Their order is that of the cluster, and their owner sees the result there.
    if has_time(one) && has_time(other) {
        return None;
    }
    let contender =
        |local: &LocalPolicy<'_>| Contender::new(local.object, local.object.place("/metadata"), &local.entry);
    let (one, other) = if has_time(one) { (one, other) } else { (other, one) };
    let (own, theirs) = (&one.entry.layers, &other.entry.layers);
    let add_up = profile.same_target == SameTarget::PerField
        && !meet(profile, own, theirs)
        && !disagree(profile, own, theirs);
    if add_up || commute(profile, &[one.entry.clone(), other.entry.clone()]) {
        return None;
    }
    let finding = undecided(profile, target, &contender(other), &contender(one));
    let help = "add `metadata.creationTimestamp` as the cluster has it";
    Some(finding.severity(Severity::Warning).help(help))
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
    let synced = resolution.synced.into_iter().filter_map(|mut synced| {
        synced.spec = beside_local(attachments, &synced, there)?;
        synced.entry(attachments)
    });
    let synced: Vec<Entry> = synced.collect();
    let locals: Vec<Entry> = there.iter().map(|local| local.entry.clone()).collect();
    let (first, local) = (synced.first()?, there.first()?);
    if is_order_independent(profile, &synced, &synced, &locals) {
        return None;
    }
    let synced = synced_contender(attachments, first, node);
    let local = Contender::new(local.object, local.object.place("/spec"), &local.entry);
    let finding = undecided(profile, target, &synced, &local);
    Some(finding.help("remove the settings that both have from one of the two"))
}

fn synced_contender(attachments: &Attachments<'_>, entry: &Entry, node: Node) -> Contender {
    let place = reference_place(attachments, entry.policy, node);
    Contender::new(attachments.policy(entry.policy).object, place, entry)
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
pub(super) struct PerReason<R>(IndexMap<(Place, R), (Finding, usize)>);

impl<R: Eq + Hash> PerReason<R> {
    pub(super) fn new() -> Self {
        Self(IndexMap::new())
    }

    /// Adds the findings about one more target.
    pub(super) fn push(&mut self, reason: R, finding: Finding) {
        let first = self.0.entry((finding.place.clone(), reason));
        let first = first.and_modify(|(_, more)| *more = more.saturating_add(1));
        first.or_insert((finding, 0));
    }

    pub(super) fn into_findings(self) -> impl Iterator<Item = Finding> {
        self.0.into_values().map(|(finding, more)| match more {
            0 => finding,
            more => finding.note(format!("the same is true of {}", counted(more, "more target"))),
        })
    }
}

/// One of two policies on one target.
pub(super) struct Contender {
    /// Its name.
    pub(super) name: String,
    /// `namespace/name`.
    pub(super) key: String,
    /// Where it is written.
    pub(super) place: Place,
    /// Its settings.
    pub(super) entry: Entry,
}

impl Contender {
    pub(super) fn new(object: &Object, place: Place, entry: &Entry) -> Self {
        Self {
            name: object.identity().to_string(),
            key: object.key(),
            place,
            entry: entry.clone(),
        }
    }
}

/// The finding, with both outcomes.
pub(super) fn undecided(profile: &Profile, target: &str, one: &Contender, other: &Contender) -> Finding {
    let names = format!("{} and {}", one.name, other.name);
    let message = format!("the result of {names} depends on which is created first: both target {target}");
    let finding = Finding::new(Code::POLICY_UNDECIDED, one.place.clone(), message)
        .label("this one")
        .related(other.place.clone(), "and this one");
    let orders = [[one, other], [other, one]];
    let mut said = orders.map(|order| outcome(profile, order, None));
    if let [first, second] = &said
        && first == second
    {
        let probes = probes(profile, &[&one.entry, &other.entry]);
        let differs = |probe: &&Content| {
            let [first, second] = orders.map(|order| described(profile, order, probe));
            first != second
        };
        let probe = probes.iter().find(differs);
        said = orders.map(|order| outcome(profile, order, probe));
    }
    let notes = orders.into_iter().zip(said);
    notes.fold(finding, |finding, ([first, _], said)| {
        finding.note(format!("if {} is created first: {said}", first.key))
    })
}

/// What to change so that two policies of the hub have one meaning.
pub(super) fn conflict_help(profile: &Profile, one: &Contender, other: &Contender) -> String {
    let rest = "write one policy, or target another section";
    let field = profile
        .strategy_fields
        .first()
        .filter(|_| merging_helps(profile, one, other));
    let Some(field) = field else {
        return rest.to_owned();
    };
    let strategy = format!("`{field}: {}`", strategy_word(profile, Strategy::Patch));
    let changes = [one, other].into_iter().filter_map(|contender| {
        let name = &contender.name;
        let whole = |layer: &&Layer| !layer.strategy.merges();
        let layer = contender.entry.layers.iter().find(whole)?;
        Some(
            if layer.base == "/spec" && profile.wrappers == Wrappers::OneOfDefaultsOverrides {
                format!("put the settings of {name} into `defaults` with {strategy}")
            } else {
                format!("give {name} {strategy}")
            },
        )
    });
    let changes: Vec<String> = changes.collect();
    format!("{}, {rest}", changes.join(" and "))
}

/// Whether the two can be shipped once both merge, and did not both merge before.
fn merging_helps(profile: &Profile, one: &Contender, other: &Contender) -> bool {
    let merging = [one, other].map(|contender| {
        let layers = contender.entry.layers.iter().map(|layer| Layer {
            strategy: Strategy::Patch,
            ..layer.clone()
        });
        Entry::new(contender.entry.policy, layers.collect::<Vec<_>>())
    });
    let mut was = one.entry.layers.iter().chain(other.entry.layers.iter());
    if was.all(|layer| layer.strategy.merges()) {
        return false;
    }
    let Some(objects) = shipped(profile, &merging) else {
        return false;
    };
    let objects = objects.into_iter().map(|object| match object.instead {
        Some(layers) => Entry::new(object.name_giver.policy, layers),
        None => object.name_giver.clone(),
    });
    let objects: Vec<Entry> = objects.collect();
    is_order_independent(profile, &merging, &objects, &[])
}

/// What applies if the first one is created first: in general, and for the settings of one more specific policy.
fn outcome(profile: &Profile, order: [&Contender; 2], probe: Option<&Content>) -> String {
    let unset = described(profile, order, &Content::new()).text;
    let set = described(profile, order, &another_setting());
    let (set, is_challenged) = (set.text, set.is_challenged);
    let mut said = match is_challenged {
        true if unset == set => format!("{unset}, and what more specific policies set"),
        false if unset == set => format!("{unset}, regardless of what more specific policies set"),
        true if set == NOTHING => {
            format!("{unset} where no more specific policy sets anything, otherwise only what it sets")
        }
        true => {
            format!("{unset} where no more specific policy sets anything, otherwise {set} and what it sets")
        }
        false => format!("{unset} where no more specific policy sets anything, otherwise {set} in its place"),
    };
    if let Some(probe) = probe {
        let Described { text, is_challenged } = described(profile, order, probe);
        let keys = probe.keys().filter_map(|key| match key.strip_suffix(FOREIGN) {
            Some("") => None,
            Some(above) => Some(format!("another field of `{above}`")),
            None => Some(format!("`{key}`")),
        });
        let keys: Vec<String> = keys.collect();
        let theirs = if is_challenged { " and what it sets" } else { "" };
        let _ = write!(said, "; where one sets {}: {text}{theirs}", keys.join(", "));
    }
    said
}

/// No setting of two policies.
const NOTHING: &str = "no setting of either";

/// A result of two policies.
#[derive(PartialEq)]
struct Described {
    /// Their settings in it, and what is said of less specific policies.
    text: String,
    /// Whether anything of the more specific policy is in it.
    is_challenged: bool,
}

/// The result of two policies, the first of which is created first, for the settings of a more specific one.
fn described(profile: &Profile, order: [&Contender; 2], challenger: &Content) -> Described {
    let mut result = merged(
        profile,
        &order.map(|contender| contender.entry.clone()),
        challenger,
    );
    let is_above = result.remove(ABOVE).is_some();
    let own = result.len();
    result.retain(|_, leaf| leaf.policy != another());
    let is_challenged = result.len() < own;
    // What both say is one's in either order, so that equal results read alike.
    let mut meetings = order;
    meetings.sort_by_key(|contender| &contender.key);
    let layers = || {
        let numbered = (0_usize..).zip(meetings);
        numbered.flat_map(|(at, contender)| contender.entry.layers.iter().map(move |layer| (at, layer)))
    };
    let mut by: BTreeMap<(usize, &str), Vec<String>> = BTreeMap::new();
    for (key, leaf) in &result {
        let says =
            |(_, layer): &(usize, &Layer)| layer.content.get(key).is_some_and(|own| own.value == leaf.value);
        let said = layers()
            .find(says)
            .map_or((0, leaf.base), |(at, layer)| (at, layer.base));
        by.entry(said).or_default().push(format!("`{key}`"));
    }
    let parts = by.into_iter().filter_map(|((at, base), keys)| {
        let contender = meetings.get(at)?;
        let (keys, key) = (keys.join(", "), &contender.key);
        let base = base.trim_start_matches('/').replace('/', ".");
        Some(match contender.entry.layers.as_ref() {
            [_] => format!("{keys} of {key}"),
            _ => format!("{keys} of `{base}` of {key}"),
        })
    });
    let above = is_above.then(|| "what less specific policies set".to_owned());
    let mut parts: Vec<String> = parts.chain(above).collect();
    if parts.is_empty() {
        parts.push(NOTHING.to_owned());
    }
    Described {
        text: parts.join(" and "),
        is_challenged,
    }
}
