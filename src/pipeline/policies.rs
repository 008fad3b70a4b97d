//! Policies of one input: attached on the hub, and evaluated where they are; the configuration and the order of these stages.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube_json::{Text, Value};

use super::loaded::Loaded;
use super::placed::Placed;
use crate::api::params::{Params, SyncedResource};
use crate::api::rules;
use crate::diagnostic::{Code, DocumentId, Finding, Findings, Place, Severity, broken};
use crate::hub::{Hub, Ours};
use crate::object::{Ages, Object};
use crate::outcome::{SpokeView, refusals, report_across_kinds};
use crate::parallel;
use crate::policy::{
    Attachments, ClusterSet, EffectivePolicies, Fates, KeptAway, KindId, Options, Policy, PolicyId, Profiles,
    learn_targets, outcomes, report_nonconforming_kinds, too_many_paths,
};
use crate::progress::Stage;
use crate::report::PolicyView;
use crate::sync::{
    LocalPolicies, Spoke, SyncedKinds, SyncedRoutes, Syncing, Withheld, leave_others_alone,
    report_broken_rules, report_local_conflicts, report_outdone_listeners, report_redirects,
    report_same_target, report_shadowed, report_unknown_kinds,
};
use crate::topology::{Controllers, GatewayId, Node, Sources, Start};
use apimachinery::{GroupKind, Identity, Work};

/// The options for policies from the configuration and the parameters.
#[derive(Debug, Clone)]
pub(super) struct Teaching<'a> {
    hub: &'a Hub,
    profiles: Profiles,
    ages: Ages,
    kinds: Vec<GroupKind>,
    routes: Vec<GroupKind>,
    controllers: Controllers,
    root_namespace: Option<String>,
    without: Option<Identity>,
}

impl<'a> Teaching<'a> {
    /// Calls `with` with the options that follow.
    fn options<T>(&self, with: impl FnOnce(&Options<'_>) -> T) -> T {
        let interpret = |object: &Object| interpreted(self.hub, object);
        let refused = |object: &Object| self.refused(object);
        with(&Options {
            profiles: Some(&self.profiles),
            ages: self.ages,
            ages_of_hub: self.ages,
            kinds: &self.kinds,
            routes: &self.routes,
            controllers: Some(&self.controllers),
            interpret: Some(&interpret),
            refused: Some(&refused),
            root_namespace: self.root_namespace.as_deref(),
            without: self.without.as_ref(),
        })
    }

    /// Also reports policy kinds that break GEP-713.
    pub(super) fn new(placed: &Placed<'a>, findings: &mut Findings) -> Self {
        let (loaded, hub, ours) = (placed.loaded, placed.hub, &placed.ours);
        let profiles = profiles(loaded, findings);
        report_nonconforming_kinds(hub, ours, &profiles, findings);
        let istio = loaded.config.istio.as_ref();
        Self {
            hub,
            profiles,
            ages: loaded.config.precedence.unwrap_or_default().creation_timestamp,
            kinds: kinds_of(ours, |params| &params.policies_to_sync),
            routes: kinds_of(ours, |params| &params.resources_to_sync),
            controllers: Controllers {
                ours: loaded.config.controller_name.clone(),
                downstream: ours.downstream_classes(),
            },
            root_namespace: istio.map(|istio| istio.root_namespace.clone()),
            without: None,
        }
    }

    /// Why an API server refuses a policy: because of its CRD, or, if that is not in the input, the rules of its kind.
    fn refused(&self, object: &Object) -> Option<String> {
        if self.hub.crds.contains_key(&object.group_kind()) {
            return object.refusal.as_ref().map(Text::to_string);
        }
        let mut broken = rules::broken(object).into_iter();
        let error = broken.find(|finding| finding.severity == Severity::Error)?;
        Some(error.message.to_string())
    }

    /// The same without a policy.
    fn without(&self, without: Option<Identity>) -> Self {
        Self {
            without,
            ..self.clone()
        }
    }
}

/// The same on a cluster: controllers there go by creation times, whatever counts on the hub.
fn on_clusters<'o>(options: &Options<'o>) -> Options<'o> {
    Options {
        ages: Ages::Use,
        ages_of_hub: options.ages,
        ..*options
    }
}

/// The attachments, and the objects that live on each cluster.
#[derive(Debug)]
pub(super) struct Attached<'a> {
    /// The hub's policies.
    pub attachments: Attachments<'a>,
    /// Spoke-local policies by cluster.
    pub locals: BTreeMap<&'a str, LocalPolicies<'a>>,
    /// What goes with which Gateway of ours.
    pub routes: SyncedRoutes<'a>,
    teaching: Teaching<'a>,
}

/// Attaches every policy of the hub, and reports conflicts on one target.
pub(super) fn attach<'a>(
    placed: &Placed<'a>,
    teaching: Teaching<'a>,
    findings: &mut Findings,
) -> Attached<'a> {
    let loaded = placed.loaded;
    let mut found = Findings::new();
    let attached = Attached::new(placed, teaching, &mut found, findings);
    let (attachments, syncing) = (&attached.attachments, attached.syncing(placed));
    findings.extend(leave_others_alone(syncing, found));
    for there in attached.locals.values() {
        report_local_conflicts(attachments, there, findings);
    }
    report_unknown_kinds(syncing, &attached.teaching.profiles, findings);
    let synced = |kind, node| syncing.is_synced(kind, node);
    report_broken_rules(syncing, synced, findings);
    if loaded.asks_for(Code::ROUTE_SHADOWED) {
        report_shadowed(syncing, findings);
        report_redirects(syncing, findings);
    }
    report_same_target(attachments, synced, findings);
    attached
}

impl<'a> Attached<'a> {
    /// `found` is what is wrong with the hub's policies, `of_clusters` with those on clusters.
    fn new(
        placed: &Placed<'a>,
        teaching: Teaching<'a>,
        found: &mut Findings,
        of_clusters: &mut Findings,
    ) -> Self {
        let (hub, ours, grants) = (placed.hub, &placed.ours, &placed.grants);
        let (attachments, locals, routes) = teaching.options(|options| {
            let sources = Sources::hub(&hub.objects).with_spokes(&hub.spokes);
            let attachments = Attachments::new(sources, &HashMap::new(), grants, options, found);
            let kinds = SyncedKinds::new(&attachments, ours);
            let routes = SyncedRoutes::new(&attachments, kinds, ours, (&hub.objects, grants));
            let there = (&routes.kinds, &placed.gateways());
            let options = on_clusters(options);
            let locals =
                LocalPolicies::for_clusters((hub, grants, &attachments), there, &options, of_clusters);
            (attachments, locals, routes)
        });
        Self {
            attachments,
            locals,
            routes,
            teaching,
        }
    }

    /// What decides about all that is synced of the same hub.
    pub(super) fn syncing<'s>(&'s self, placed: &'s Placed<'a>) -> Syncing<'s> {
        Syncing {
            hub: placed.hub,
            ours: &placed.ours,
            clusters: placed.clusters_here(),
            attachments: &self.attachments,
            routes: &self.routes,
        }
    }

    /// The same for the hub that ClusterOverlays make of this one, with what is wrong there.
    pub(super) fn projected(&self, placed: &Placed<'a>, findings: &mut Findings) -> Self {
        attach(placed, self.teaching.without(None), findings)
    }

    /// The same for the same input or a part of it, without a policy. Nothing is reported: it was, of the whole.
    pub(super) fn again(&self, placed: &Placed<'a>, without: Option<Identity>) -> Self {
        let teaching = self.teaching.without(without);
        Self::new(placed, teaching, &mut Findings::new(), &mut Findings::new())
    }
}

/// The kinds of a list of the parameters, over all classes of ours, sorted.
fn kinds_of(ours: &Ours<'_>, list: impl Fn(&Params) -> &Vec<SyncedResource>) -> Vec<GroupKind> {
    let params = ours
        .classes
        .values()
        .filter_map(|class| class.params.as_deref().ok());
    let kinds = params.flat_map(list).map(SyncedResource::group_kind);
    kinds.collect::<BTreeSet<GroupKind>>().into_iter().collect()
}

/// Profiles of policy kinds: built in, corrected and completed by the configuration.
fn profiles(loaded: &Loaded, findings: &mut Findings) -> Profiles {
    let mut profiles = Profiles::built_in();
    // The configuration is the first text that is read.
    let document = DocumentId::FIRST;
    crate::policy::configure(&mut profiles, &loaded.config.profiles, document, findings);
    learn_targets(&mut profiles, &loaded.hub, findings);
    profiles
}

/// The object as its controller reads it: defaults of its schema applied, nulls pruned.
fn interpreted(hub: &Hub, object: &Object) -> Option<Value> {
    let schema = hub.schema(&object.group_kind(), &object.api_version.version)?;
    Some(schema.defaulted(&object.value).into_owned())
}

/// What the clusters that a hub is for receive, and what is withheld from them.
#[derive(Debug)]
pub(super) struct SpokesOfHub<'a> {
    pub(super) placed: &'a Placed<'a>,
    pub(super) attached: &'a Attached<'a>,
    pub(super) spokes: Vec<Spoke<'a>>,
    pub(super) withheld: Vec<Withheld<'a>>,
}

/// Evaluates every spoke, and on the hub what no cluster receives: Gateways of other classes, and those that nobody
/// places. The first hub is the one that is written, the others are those that ClusterOverlays make of it; there is at
/// least one. `cluster` is the one that is looked at. The findings are about what only the results show.
pub(super) fn evaluate<'a>(
    hubs: &[&'a SpokesOfHub<'a>],
    cluster: Option<&'a str>,
) -> (PolicyView<'a>, Findings) {
    let Some(SpokesOfHub {
        placed: input,
        attached,
        withheld,
        ..
    }) = hubs.first()
    else {
        broken(format_args!("an input without a hub was analyzed"))
    };
    let (attachments, routes) = (&attached.attachments, &attached.routes);
    let spokes = hubs
        .iter()
        .flat_map(|hub| hub.spokes.iter().map(move |spoke| (hub, spoke)));
    let spokes: Vec<(&&SpokesOfHub<'a>, &'a Spoke<'a>)> = spokes.collect();
    let count = spokes.len().saturating_add(1);
    let steps = input.loaded.progress.count(Stage::Policies, count);
    let placed = |gateway: GatewayId| {
        let ours = routes.kinds.gateway(gateway);
        ours.map(|gateway| !input.clusters.get(gateway).is_empty())
    };
    let work = Work::default();
    // A route goes with its Gateways. Routes that only a mesh uses stay on the hub.
    let stays = |start: Start| match start {
        Start::Gateway(gateway) => placed(gateway) != Some(true),
        Start::Service(service) => {
            let mut routes = attachments.topology.backends.get(service).meshed.iter();
            routes.any(|route| {
                let gateways = &attachments.topology.routes.get(*route).gateways;
                !gateways.iter().any(|gateway| placed(*gateway) == Some(true))
            })
        }
    };
    let mut hub =
        EffectivePolicies::for_starts(attachments, &work, |start| cluster.is_none() && stays(start));
    steps.advance(1);
    let views = parallel::map(&spokes, |(hub, spoke)| {
        // Findings that nobody would see are not computed.
        if work.is_spent() {
            return None;
        }
        // Mistakes in existing objects were reported where they were read.
        let mut said = Findings::new();
        let sources = spoke.sources(&hub.placed.hub.objects);
        let grants = spoke.grants(&hub.placed.grants);
        let attachments = hub.attached.teaching.options(|options| {
            Attachments::new(sources, spoke.copied(), &grants, &on_clusters(options), &mut said)
        });
        let effective = EffectivePolicies::new(&attachments, &work);
        steps.advance(1);
        Some(SpokeView {
            clusters: &spoke.clusters,
            attachments,
            effective,
        })
    });
    let mut spokes: Vec<SpokeView<'a>> = views.into_iter().flatten().collect();
    // Those of several hubs come one after the other.
    spokes.sort_by(|one, other| one.clusters.first().cmp(&other.clusters.first()));
    let topologies = spokes
        .iter()
        .map(|spoke| (spoke.clusters, &spoke.attachments.topology));
    let mut findings = Findings::new();
    report_outdone_listeners(topologies, &mut findings);
    if let Some(too_many_paths) = too_many_paths(&work) {
        findings.push(too_many_paths);
        hub.clear();
        spokes.clear();
    }
    let mut fates = Fates::default();
    // A class of ours whose parameters cannot be used places nothing.
    let is_foreign = |start: Start| match start {
        Start::Gateway(gateway) => {
            let topology = &attachments.topology;
            let class = topology.classes.get(topology.gateways.get(gateway).class);
            placed(gateway).is_none() && !input.ours.classes.contains_key(class.name)
        }
        Start::Service(_) => cluster.is_none() && stays(start),
    };
    fates.add(&[], attachments, &hub, is_foreign);
    for spoke in &spokes {
        fates.add(spoke.clusters, &spoke.attachments, &spoke.effective, |_| true);
    }
    for there in hubs {
        for (policy, kept) in kept_away(there, cluster) {
            fates.keep_away(&there.attached.attachments.locator(policy), kept);
        }
    }
    let view = PolicyView {
        hub: attachments,
        hub_effective: hub,
        withheld,
        refusals: refusals(attachments, &spokes),
        overlays: Vec::new(),
        rules: Vec::new(),
        spokes,
        fates,
        clusters: &input.by_key,
        routes,
        cluster,
    };
    (view, findings)
}

/// Reports what needs the outcome of all policies.
pub(super) fn report_outcomes(view: &PolicyView<'_>, loaded: &Loaded, findings: &mut Findings) {
    let mut so_far = findings.iter().chain(loaded.findings.iter());
    let is_wrong = |finding: &Finding| {
        finding.severity == Severity::Error && finding.code != Code::POLICY_TARGET_NOT_FOUND
    };
    // What holds where says nothing while something that leads there is wrong.
    if so_far.any(is_wrong) {
        return;
    }
    let mut found = Findings::new();
    outcomes(view.hub, &view.fates, &mut found);
    let mut so_far = findings.iter().chain(loaded.findings.iter());
    // Nor does it say whether something else is there that a policy needs, while the target of one is missing.
    if !so_far.any(|finding| finding.severity == Severity::Error) {
        report_across_kinds(view, &loaded.hub, &mut found);
    }
    let causes = Causes::new(findings.iter().chain(loaded.findings.iter()), view.hub);
    found.revise(|finding| {
        if let Some(cause) = causes.cause_of(finding) {
            Arc::make_mut(finding).causes.push(cause.clone());
        }
        true
    });
    findings.extend(found);
}

/// An object, by its document and its pointer there.
type ObjectAt<'p> = (DocumentId, &'p str);

/// References that lead nowhere: with them, another policy may be in effect, or another path be there.
struct Causes<'v> {
    policies: HashMap<ObjectAt<'v>, &'v Policy<'v>>,
    attachments: &'v Attachments<'v>,
    /// Where a route has a typo in a parent, by the route, and by the object that it means.
    parents: HashMap<ObjectAt<'v>, &'v Place>,
    /// Where a policy of a kind has no target.
    targets: HashMap<KindId, &'v Place>,
}

impl<'v> Causes<'v> {
    fn new(findings: impl Iterator<Item = &'v Finding>, attachments: &'v Attachments<'v>) -> Self {
        let mut causes = Self {
            policies: HashMap::new(),
            attachments,
            parents: HashMap::new(),
            targets: HashMap::new(),
        };
        let codes = [Code::ROUTE_PARENT_NOT_FOUND, Code::POLICY_TARGET_NOT_FOUND];
        let references = findings.filter(|finding| codes.contains(&finding.code));
        let mut references = references.peekable();
        if references.peek().is_none() {
            return causes;
        }
        let policies = attachments.policies.iter();
        let policies = policies.map(|(_, policy)| (policy.object.origin.object(), policy));
        causes.policies = policies.collect();
        for finding in references {
            let place = &finding.place;
            let near = finding.lacks.as_ref().and_then(|lacks| lacks.near.object());
            if finding.code == Code::ROUTE_PARENT_NOT_FOUND {
                let objects = near.into_iter().flat_map(|near| [Some(near), place.object()]);
                let objects = objects.flatten();
                causes.parents.extend(objects.map(|object| (object, place)));
            } else if let Some(policy) = place.object().and_then(|at| causes.policies.get(&at)) {
                causes.targets.insert(policy.kind, place);
            }
        }
        causes
    }

    /// That a policy is overridden may follow from another policy of its kind that is attached nowhere; and, as that no
    /// path leads to it, from a route that is meant to be below its target.
    fn cause_of(&self, finding: &Finding) -> Option<&'v Place> {
        if ![Code::POLICY_OVERRIDDEN, Code::POLICY_UNREACHABLE].contains(&finding.code) {
            return None;
        }
        let policy = self.policies.get(&finding.place.object()?)?;
        let topology = &self.attachments.topology;
        let nodes = policy.nodes();
        let gateways = nodes.iter().flat_map(|node| topology.gateways_of(*node));
        let gateways = gateways.map(|gateway| topology.gateways.get(gateway).object);
        let mut passed = gateways.chain(nodes.iter().filter_map(|node| topology.object(*node)));
        let is_overridden = finding.code == Code::POLICY_OVERRIDDEN;
        let of_kind = || self.targets.get(&policy.kind).filter(|_| is_overridden);
        passed
            .find_map(|object| self.parents.get(&object.origin.object()))
            .or_else(of_kind)
            .copied()
    }
}

/// Where each policy is kept from, before anything is shipped.
fn kept_away<'a>(hub: &SpokesOfHub<'a>, cluster: Option<&str>) -> BTreeMap<PolicyId, KeptAway<'a>> {
    let attached = hub.attached;
    let (topology, routes) = (&attached.attachments.topology, &attached.routes);
    let mut by_policy: BTreeMap<PolicyId, KeptAway<'a>> = BTreeMap::new();
    let mut names: HashMap<&str, Arc<str>> = HashMap::new();
    let mut by_node: HashMap<Node, ClusterSet> = HashMap::new();
    let mut set = |clusters: BTreeSet<&'a str>| -> ClusterSet {
        let clusters = clusters.into_iter();
        let asked = clusters.filter(|name| cluster.is_none_or(|asked| asked == *name));
        let name = |cluster| Arc::clone(names.entry(cluster).or_insert_with(|| Arc::from(cluster)));
        Arc::new(asked.map(name).collect())
    };
    for withheld in &hub.withheld {
        let on = match withheld.cluster {
            Some(cluster) => set(BTreeSet::from([cluster])),
            None => match by_node.get(&withheld.node) {
                Some(known) => Arc::clone(known),
                None => {
                    let here = hub.placed.clusters_here();
                    let on = set(routes.clusters_of(topology, here, withheld.node));
                    by_node.insert(withheld.node, Arc::clone(&on));
                    on
                }
            },
        };
        if !on.is_empty() {
            let winner = (withheld.winner, withheld.cluster.is_some(), withheld.rule);
            by_policy.entry(withheld.policy).or_default().add(&on, winner);
        }
    }
    by_policy
}
