//! The objects that the hierarchy is made from: those of the hub, or those of one cluster, both synced and local. Also the
//! controllers of their classes, as far as the input shows, and the object that a dangling reference probably means.

use std::collections::{BTreeMap, HashMap};

use apimachinery::{GroupKind, Identity};
use kube_json::Text;

use crate::api::downstream::{NAMESPACE_PREFIX, is_synced_copy};
use crate::api::gateway::GROUP;
use crate::diagnostic::{Finding, NameIndex, Place, Severity, nearest};
use crate::hub::Objects;
use crate::object::{Ages, Object, Rank, rank_of};

/// The objects that a topology is made of.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The hub's objects, or what is synced to a cluster.
    pub objects: &'a Objects,
    /// Of a cluster, what lives there.
    pub local: Option<&'a Objects>,
    /// Of a cluster, the hub: its CRDs and classes are assumed to be there, too. Its Namespaces and ReferenceGrants are
    /// for what another tool is assumed to deliver.
    pub hub: Option<&'a Objects>,
    /// Of a cluster, what `objects` were made from, in their order.
    pub originals: Option<&'a [Original<'a>]>,
    /// Of the hub, what lives on each cluster. A reference may mean it, and nothing is made of it.
    pub spokes: Option<&'a BTreeMap<String, Objects>>,
}

/// The original of an object on a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Original<'a> {
    /// The object of the hub.
    pub object: &'a Object,
    /// Whether it is not synced, but a route of the hub that another tool is assumed to deliver.
    pub assumed: bool,
}

/// The objects whose ages count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seniority {
    /// Of what is looked at.
    pub ages: Ages,
    /// Of the hub's objects, which those that were synced to a cluster were made from. When a copy was created there
    /// nobody here knows: the older one on the hub is the likelier to have come first.
    pub of_originals: Ages,
}

impl Seniority {
    /// The rank of a route or a ListenerSet, or a copy of one, among its like.
    pub(super) fn rank(self, object: &Object, original: Option<&Original<'_>>) -> Rank {
        match original {
            Some(original) => rank_of(original.object, self.of_originals),
            None => rank_of(object, self.ages),
        }
    }
}

impl<'a> Sources<'a> {
    /// The hub as a cluster of its own.
    pub const fn hub(objects: &'a Objects) -> Self {
        Self {
            objects,
            local: None,
            hub: None,
            originals: None,
            spokes: None,
        }
    }

    /// The same of the hub, where it is known what lives on each cluster.
    #[must_use]
    pub const fn with_spokes(self, spokes: &'a BTreeMap<String, Objects>) -> Self {
        Self {
            spokes: Some(spokes),
            ..self
        }
    }

    /// Objects of a kind, those that live on the cluster last, and marked. Copies that were synced there by an earlier
    /// run are not counted twice.
    pub(crate) fn of_kind(self, group: &str, kind: &str) -> impl Iterator<Item = (&'a Object, bool)> {
        let local = self.local.map(|objects| objects.of_kind(group, kind));
        let local = local.unwrap_or_default().iter();
        let objects = self.objects.of_kind(group, kind).iter();
        // An export of a live cluster has what an earlier run shipped.
        let local = local.filter(|object| !is_synced_copy(object));
        objects
            .map(|object| (object, false))
            .chain(local.map(|object| (object, true)))
    }

    /// Of a cluster, objects of the hub.
    pub(crate) fn hub_of_kind(self, group: &str, kind: &str) -> std::slice::Iter<'a, Object> {
        self.hub
            .map(|objects| objects.of_kind(group, kind))
            .unwrap_or_default()
            .iter()
    }

    /// All groups of objects: those that the hierarchy is made of first.
    pub(super) fn all(self) -> impl Iterator<Item = &'a Objects> {
        let own = [Some(self.objects), self.local].into_iter().flatten();
        own.chain(self.spokes.into_iter().flat_map(BTreeMap::values))
    }

    /// Whether the object of this identity lives on some cluster.
    pub(crate) fn lives_on_a_cluster(self, identity: &Identity) -> bool {
        let mut spokes = self.spokes.into_iter().flat_map(BTreeMap::values);
        spokes.any(|objects| objects.get(identity).is_some())
    }

    /// The object of this identity.
    pub(crate) fn get(self, identity: &Identity) -> Option<&'a Object> {
        let mut all = [Some(self.objects), self.local].into_iter().flatten();
        all.find_map(|objects| objects.get(identity))
    }

    /// The same, or that of the hub, of a kind by which a cluster is configured.
    pub(crate) fn get_with_hub(self, identity: &Identity) -> Option<&'a Object> {
        self.get(identity).or_else(|| self.hub?.get(identity))
    }

    /// The original of an object.
    pub(crate) fn original(self, object: &Object) -> Option<&'a Original<'a>> {
        self.originals?.get(self.objects.position(object)?)
    }
}

/// The groups of the controllers that hand requests on: kgateway, agentgateway, which was split off from it, and Gloo
/// Gateway, which it was split off from (docs/systems/other-policies.md#route-delegation).
const DELEGATING: [&str; 3] = ["kgateway.dev", "agentgateway.dev", "solo.io"];

/// The classes that Istio makes itself, with their controllers: they are known without a GatewayClass in the input
/// (`istio/istio pkg/config/constants/constants.go@1.30.3`).
const OF_ISTIO: [(&str, &str); 4] = [
    ("istio", "istio.io/gateway-controller"),
    ("istio-east-west", "istio.io/eastwest-controller"),
    ("istio-remote", "istio.io/unmanaged-gateway"),
    ("istio-waypoint", "istio.io/mesh-controller"),
];

/// The classes that ours become on clusters, because no controller serves ours under their name.
#[derive(Debug, Clone, Default)]
pub struct Controllers {
    /// The controller that classes of ours name: it serves no Gateway itself.
    pub ours: String,
    /// The class on the clusters, by the name of a class of ours.
    pub downstream: BTreeMap<String, String>,
}

impl Controllers {
    /// The controller of a class, if it is known to be one that hands no requests on to other routes.
    pub(super) fn not_delegating<'a>(&'a self, class: &'a str, sources: Sources<'a>) -> Option<&'a str> {
        // On a cluster our Gateways have their class already.
        let downstream = self.downstream.get(class).filter(|_| sources.hub.is_none());
        let class = downstream.map_or(class, String::as_str);
        let object = sources.get_with_hub(&Identity::new(GROUP, "GatewayClass", None, class));
        let named = object.and_then(|class| class.root().get("spec").text("controllerName"));
        let of_istio = OF_ISTIO.iter().find(|(name, _)| *name == class);
        let controller = named
            .filter(|controller| *controller != self.ours)
            .or_else(|| of_istio.map(|(_, controller)| *controller))?;
        let group = controller.split('/').next().unwrap_or_default();
        (!DELEGATING.contains(&group)).then_some(controller)
    }
}

/// The nearest definition of something that a reference does not find. A typo takes something off the clusters that an object with
/// the right reference would have brought there, so a reference with a suggestion is an error.
pub(crate) struct Suggestion<'a> {
    /// The field of the reference that is probably wrong.
    pub(crate) field: &'static str,
    help: String,
    object: &'a Object,
    /// Where it is defined.
    there: Place,
}

impl<'a> Suggestion<'a> {
    /// What is meant is at a pointer of an object.
    fn new(field: &'static str, meant: &str, object: &'a Object, pointer: &str) -> Self {
        Self {
            field,
            help: format!("did you mean `{meant}`?"),
            object,
            there: object.place(pointer),
        }
    }

    /// An object of the same name and namespace has a near kind, of the same group.
    pub(crate) fn kind(object: &'a Object) -> Self {
        Self::new("kind", &object.kind, object, "/kind")
    }

    /// The section of `object` whose name is nearest to `section`: a listener, a rule, or a port.
    pub(crate) fn section(object: &'a Object, section: &str) -> Option<Self> {
        let spec = object.root().get("spec");
        let lists = ["listeners", "rules", "ports"].map(|list| spec.get(list));
        let names = lists
            .iter()
            .flat_map(|list| list.items().map(|item| item.get("name")));
        let names: Vec<_> = names.filter(|name| name.str().is_some()).collect();
        let near = nearest(section, names.iter().filter_map(|name| name.str()))?;
        let at = names.iter().find(|name| name.str() == Some(near))?;
        Some(Self::new("sectionName", near, object, &at.pointer()))
    }

    /// Whether it is an object of such a group and kind.
    pub(crate) fn is(&self, wanted: impl Fn(&str, &str) -> bool) -> bool {
        wanted(&self.object.api_version.group, &self.object.kind)
    }

    /// The error with this as its help; `what` does not exist. A reference of an object, at a pointer, that has no namespace
    /// means the one in the metadata of the object.
    pub(crate) fn explain(
        self,
        finding: Finding,
        what: &str,
        (object, pointer, namespace): (&Object, &str, Option<&str>),
    ) -> Finding {
        let finding = finding.severity(Severity::Error).help(self.help);
        let mut finding = finding.lacks(what, self.there);
        finding.place = match self.field {
            "namespace" if namespace.is_none() => object.place("/metadata/namespace"),
            field => object.place(&format!("{pointer}/{field}")),
        };
        finding
    }
}

/// Names of objects by their group, their kind, and their namespace or name.
type NamesByKey<'a> = HashMap<[Text; 3], NameIndex<'a>>;

/// The objects of the input, to look for near ones: a thousand references may name one kind.
#[derive(Debug)]
pub(crate) struct Suggestions<'a> {
    sources: Sources<'a>,
    names: NamesByKey<'a>,
    namespaces: NamesByKey<'a>,
}

impl<'a> Suggestions<'a> {
    pub(crate) fn new(sources: Sources<'a>) -> Self {
        Self {
            sources,
            names: NamesByKey::new(),
            namespaces: NamesByKey::new(),
        }
    }

    /// The nearest object for a reference; where it has no namespace, one may have been forgotten.
    pub(crate) fn find_for(&mut self, namespace: Option<&str>, missing: &Identity) -> Option<Suggestion<'a>> {
        let near = self.find(missing);
        if namespace.is_some() || near.is_some() || self.sources.lives_on_a_cluster(missing) {
            return near;
        }
        let GroupKind { group, kind } = &missing.group_kind;
        let all = self.sources.all();
        let named = all.flat_map(|objects| objects.of_kind(group, kind));
        let named = named.filter(|object| object.name == missing.name.as_str());
        let object = named.min_by_key(|object| object.namespace.as_deref())?;
        Some(Suggestion {
            help: format!(
                "did you mean {}? A reference without `namespace` stays in its own",
                object.identity()
            ),
            ..Suggestion::new("name", "", object, "/metadata/namespace")
        })
    }

    /// The nearest object: one of its namespace first, then one of its name, then one of a near kind or group. None
    /// where the missing object lives on a cluster.
    pub(crate) fn find(&mut self, missing: &Identity) -> Option<Suggestion<'a>> {
        let sources = self.sources;
        if sources.lives_on_a_cluster(missing) {
            return None;
        }
        let GroupKind { group, kind } = &missing.group_kind;
        let namespace = missing.namespace.as_deref().unwrap_or_default();
        let name = missing.name.as_str();
        let of_kind = || sources.all().flat_map(|objects| objects.of_kind(group, kind));
        let key = |last: &str| [group.clone(), kind.clone(), last.into()];
        let names = self.names.entry(key(namespace)).or_insert_with(|| {
            let here = of_kind().filter(|object| is_in(object, namespace));
            NameIndex::new(here.map(|object| object.name.as_str()))
        });
        let is_at =
            |object: &&Object, namespace: &str, name: &str| is_in(object, namespace) && object.name == name;
        // A name in its own namespace first: nothing else of the reference need be wrong then.
        if let Some(near) = names.nearest(name) {
            let object = of_kind().find(|object| is_at(object, namespace, near))?;
            return Some(Suggestion::new("name", near, object, "/metadata/name"));
        }
        let namespaces = self.namespaces.entry(key(name)).or_insert_with(|| {
            let named = of_kind().filter(|object| object.name == name);
            NameIndex::new(named.map(Object::namespace_or_empty))
        });
        // On a cluster, a Gateway of the hub has another namespace.
        let downstream = [NAMESPACE_PREFIX, namespace].concat();
        let on_cluster = of_kind().any(|object| is_at(&object, &downstream, name));
        let near = namespaces.nearest(namespace);
        if let Some(near) = near.or(on_cluster.then_some(downstream.as_str())) {
            let object = of_kind().find(|object| is_at(object, near, name))?;
            return Some(Suggestion {
                help: format!("did you mean namespace `{}`?", object.namespace_or_empty()),
                ..Suggestion::new("namespace", "", object, "/metadata/namespace")
            });
        }
        let named = sources.all().flat_map(|objects| {
            let kinds = objects.group_kinds().into_iter();
            kinds.filter_map(|known| {
                let is_near = match (known.group == *group, known.kind == *kind) {
                    // One of the two is right: with both wrong, any object would be near.
                    (true, false) => nearest(kind, [known.kind.as_str()]).is_some(),
                    (false, true) => nearest(group, [known.group.as_str()]).is_some(),
                    _ => false,
                };
                let mut namespaces = [Some(namespace), None].into_iter().filter(|_| is_near);
                let found = namespaces.find_map(|own| objects.find(&known.group, &known.kind, own, name))?;
                Some(if known.group == *group {
                    Suggestion::kind(found)
                } else {
                    Suggestion::new("group", &known.group, found, "/apiVersion")
                })
            })
        });
        named.into_iter().next()
    }
}

/// Whether a reference with this namespace may mean an object.
fn is_in(object: &Object, namespace: &str) -> bool {
    object.namespace.as_deref().is_none_or(|own| own == namespace)
}
