//! Updates that clusters would refuse, although they would accept the new object if it were not there yet.
//!
//! Owns: pairing what an earlier rendering shipped to a cluster with what a plan ships there, and the finding about an
//! update that a rule refuses. Flows in: a [`Plan`], the works of an earlier rendering as text, the hub's schemas. Flows
//! out: findings. Must not know: the rules, or where those texts come from.
//!
//! An update is refused as a whole, again and again: whatever else the new object says does not arrive either. An object
//! stays the same object when it moves to another work, or changes its version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::narrowed::{MOST_NAMES, Narrowing, Shipped, ShippedObject, shipped};
use super::plan::{ManifestSummary, Plan, REPLICA_SETS, WorkId};
use crate::api::crd;
use crate::api::params::UpdateStrategy;
use crate::api::updates::Refusal;
use crate::diagnostic::{Code, Finding, Part, Place, first_items, first_names};
use crate::hub::Table;
use crate::object::Origin;
use crate::output::OutputError;
use crate::parallel;
use apimachinery::{GroupKind, Work};

/// The group of an object, and its kind and names.
type Identity<'a> = (&'a str, String);

/// What refuses updates of which objects; the main origin of each, and the clusters.
type Refused<'a, 'c> = BTreeMap<(Identity<'a>, Refusal), (Option<&'a Origin>, BTreeSet<&'c str>)>;

/// The earlier works that change: each distinct text, without its cluster, and the clusters.
type Texts<'c> = BTreeMap<String, BTreeSet<&'c str>>;

/// One finding for each rule that refuses the update of an object.
///
/// # Errors
/// When an earlier file cannot be read.
pub(crate) fn refused(plan: &Plan, narrowing: &Narrowing<'_>) -> Result<Vec<Finding>, OutputError> {
    let mut refusing = Refusing {
        plan,
        narrowing,
        places: BTreeMap::new(),
        new: plan.works.map(|_| OnceLock::new()),
        work: Work::default(),
    };
    let mut kinds = BTreeMap::new();
    for (id, work) in plan.works.iter() {
        for summary in &work.manifests {
            let kind = (&summary.group, &summary.kind);
            if *kinds
                .entry(kind)
                .or_insert_with(|| narrowing.may_refuse(&kind_of(summary)))
            {
                let identity = (summary.group.as_str(), key(summary));
                refusing.places.entry(identity).or_default().push((id, summary));
            }
        }
    }
    kinds.retain(|_, may_refuse| *may_refuse);
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    let lines: Vec<String> = kinds.keys().map(|(_, kind)| format!("kind: {kind}\n")).collect();
    let texts: Vec<_> = narrowing.earlier(&lines)?.into_iter().collect();
    let mut all = Refused::new();
    let found = parallel::map(&texts, |(text, clusters)| refusing.of_text(text, clusters));
    for (refusal, (origin, clusters)) in found.into_iter().flatten() {
        let (_, all) = all.entry(refusal).or_insert_with(|| (origin, BTreeSet::new()));
        all.extend(clusters);
    }
    let definitions = narrowing.hub.objects.of_kind(crd::GROUP, crd::KIND);
    Ok(match definitions.first().filter(|_| refusing.work.is_spent()) {
        Some(definition) => vec![crd::too_much_work(definition)],
        None => all.into_iter().map(finding).collect(),
    })
}

impl Narrowing<'_> {
    /// Whether any rule may refuse an update of an object of this kind.
    fn may_refuse(&self, kind: &GroupKind) -> bool {
        let classes = self.ours.classes.values();
        let mut params = classes.filter_map(|class| class.params.as_deref().ok());
        let server_side = params.any(|params| params.update_strategy != UpdateStrategy::Update);
        self.hub.may_refuse(kind, server_side)
    }

    /// Those that have one of these lines.
    fn earlier(&self, lines: &[String]) -> Result<Texts<'_>, OutputError> {
        let paths: Vec<&str> = self.paths.iter().map(AsRef::as_ref).collect();
        let texts: Mutex<Texts<'_>> = Mutex::default();
        let read = parallel::map(&paths, |path| {
            let text = (self.text)(path)?.filter(|text| lines.iter().any(|line| text.contains(line)));
            if let (Some(text), Some((cluster, _))) = (text, path.split_once('/')) {
                let namespace = format!("\n  namespace: {}\n", kube_yaml::scalar(cluster));
                let text = text.replacen(&namespace, "\n", 1);
                let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                texts.entry(text).or_default().insert(cluster);
            }
            Ok(())
        });
        read.into_iter().collect::<Result<(), _>>()?;
        Ok(texts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A plan, as far as a rule may refuse an update.
struct Refusing<'a> {
    plan: &'a Plan,
    narrowing: &'a Narrowing<'a>,
    /// The works that have an object.
    places: BTreeMap<Identity<'a>, Vec<(WorkId, &'a ManifestSummary)>>,
    /// What is in each work, as soon as it is needed.
    new: Table<WorkId, OnceLock<Shipped>>,
    work: Work,
}

impl<'a> Refusing<'a> {
    /// What is refused of the objects of an earlier text that these clusters have.
    fn of_text(&self, text: &str, clusters: &BTreeSet<&'a str>) -> Refused<'a, 'a> {
        let old = shipped(text);
        let all = self.plan.clusters.keys().map(String::as_str);
        let clusters: BTreeSet<&str> = if clusters.contains(REPLICA_SETS) {
            all.filter(|cluster| self.narrowing.may_reach(&old, cluster))
                .collect()
        } else {
            clusters.clone()
        };
        let mut found = Refused::new();
        for before in &old.objects {
            let identity = (before.group.as_str(), before.key.clone());
            for (id, summary) in self.places.get(&identity).into_iter().flatten() {
                let has_it = |cluster: &&&str| {
                    let works = self.plan.clusters.get(**cluster);
                    works.is_some_and(|works| works.contains(id))
                };
                let clusters: Vec<&str> = clusters.iter().filter(has_it).copied().collect();
                if clusters.is_empty() {
                    continue;
                }
                let new = self.new.get(*id).get_or_init(|| {
                    let (before, after) = self.plan.works.get(*id).text.halves();
                    shipped(&[before, "x", after].concat())
                });
                let is_it =
                    |after: &&ShippedObject| (&after.group, &after.key) == (&before.group, &before.key);
                let Some(after) = new.objects.iter().find(is_it) else {
                    continue;
                };
                let update = (&before.value, &after.value);
                let hub = self.narrowing.hub;
                for refusal in hub.refusals(&kind_of(summary), new.server_side, update, &self.work) {
                    let identity = (summary.group.as_str(), before.key.clone());
                    let refused = found.entry((identity, refusal));
                    let (_, all) = refused.or_insert_with(|| (summary.origins.first(), BTreeSet::new()));
                    all.extend(&clusters);
                }
            }
        }
        found
    }
}

fn kind_of(summary: &ManifestSummary) -> GroupKind {
    GroupKind {
        group: summary.group.clone(),
        kind: summary.kind.clone(),
    }
}

/// As [`ShippedObject::key`].
fn key(summary: &ManifestSummary) -> String {
    let (kind, name) = (&summary.kind, &summary.name);
    match summary.namespace.as_str() {
        "" => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    }
}

fn finding(
    (((_, object), refusal), (origin, clusters)): (
        (Identity<'_>, Refusal),
        (Option<&Origin>, BTreeSet<&str>),
    ),
) -> Finding {
    let place = origin.map_or(Place::Run, |origin| origin.place(&refusal.pointer, Part::Value));
    let clusters = first_names(&clusters, MOST_NAMES);
    let message = format!(
        "{object}: {clusters} would refuse the whole update: {}",
        refusal.message
    );
    Finding::new(Code::OBJECT_UPDATE_REFUSED, place, message)
        .note(first_items(refusal.changes, MOST_NAMES))
        .help(
            "keep the old value; or give the object another name; or remove it in this change, and add it in a later one \
             when the clusters have deleted it",
        )
}
