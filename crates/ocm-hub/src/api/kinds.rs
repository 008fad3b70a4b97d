//! The table of kinds: built in, and defined by CRDs of the input, which override a built-in row. It also finds the
//! nearest known name for a misspelled one.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use apimachinery::{ApiVersion, GroupKind};
use strsim::damerau_levenshtein;

use super::catalog::Entry;
use super::crd::Scope::{Cluster, Namespaced};
use super::crd::{Crd, Scope};
use super::gateway::GROUP;
use super::policy::TARGETS;
use super::{catalog, ocm_work, own_kinds};
use crate::diagnostic::{Code, Finding, Severity, nearest};
use crate::object::Object;
use crate::object::well_known::POLICY_LABEL;

#[cfg(test)]
mod tests;

/// The facts about a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindInfo {
    /// API group, `""` for core.
    pub group: Cow<'static, str>,
    /// Kind.
    pub kind: Cow<'static, str>,
    /// Resource name in URLs, such as `gateways`.
    pub plural: Cow<'static, str>,
    /// Scope.
    pub scope: Scope,
    /// Served versions, those of the table in the order of preference.
    pub versions: Vec<Cow<'static, str>>,
    /// Whether its spec names targets, in any served version: only then can its objects be policies.
    pub has_target: bool,
    /// Whether its spec has `parentRefs`, in any served version: only then can its objects be routes.
    pub parent_refs: bool,
    /// Whether a CRD of the input labels it as a policy. It is a hint, not a class to trust.
    pub has_policy_label: bool,
    /// Whether it is not defined by a CRD of the input.
    pub is_built_in: bool,
}

impl KindInfo {
    /// Whether objects of this kind can attach to a Gateway by target reference.
    pub const fn is_policy(&self) -> bool {
        self.has_target || self.has_policy_label
    }

    /// The entry of the parameters for an object of this kind: in its version, or in the first that is served, as others
    /// would be refused there.
    pub fn listed(&self, object: &Object) -> String {
        let mut versions = self.versions.iter();
        let own = &object.api_version.version;
        let version = versions
            .find(|served| *served == own.as_str())
            .or(self.versions.first());
        let version = version.map_or(own.as_str(), AsRef::as_ref);
        let (group, plural) = (&self.group, &self.plural);
        format!("{{\"group\": \"{group}\", \"version\": \"{version}\", \"resource\": \"{plural}\"}}")
    }

    /// Whether a version is served.
    pub fn serves(&self, version: &str) -> bool {
        self.versions.iter().any(|served| served == version)
    }
}

impl From<&'static Entry> for KindInfo {
    fn from(entry: &'static Entry) -> Self {
        Self {
            group: entry.group.into(),
            kind: entry.kind.into(),
            plural: entry.plural.into(),
            scope: entry.scope(),
            versions: entry.served_versions().map(Cow::from).collect(),
            has_target: TARGETS.iter().any(|field| entry.has_reference(field)),
            parent_refs: entry.has_reference("parentRefs"),
            // A label of a kind is only a hint: kinds of the catalog have profiles.
            has_policy_label: false,
            is_built_in: true,
        }
    }
}

impl From<&Crd> for KindInfo {
    fn from(crd: &Crd) -> Self {
        let served = crd.versions.iter().filter(|version| version.served);
        let schemas: Vec<_> = served.filter_map(|version| version.schema.as_ref()).collect();
        let has = |field: &str| schemas.iter().any(|schema| schema.has_field(&["spec", field]));
        let versions = crd.served_versions().map(|version| version.to_owned().into());
        Self {
            group: crd.group.clone().into(),
            kind: crd.kind.clone().into(),
            plural: crd.plural.clone().into(),
            scope: crd.scope,
            versions: versions.collect(),
            has_target: TARGETS.into_iter().any(has),
            parent_refs: has("parentRefs"),
            has_policy_label: crd.labels.contains_key(POLICY_LABEL),
            is_built_in: false,
        }
    }
}

/// Group, served versions, kinds in namespaces, kinds of the cluster.
type Group = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip] // one group a row
const GROUPS: &[Group] = &[
    (
        "", "v1",
        "ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController \
         ResourceQuota Secret Service ServiceAccount",
        "Namespace Node PersistentVolume",
    ),
    ("apps", "v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", ""),
    ("batch", "v1", "CronJob Job", ""),
    ("autoscaling", "v2 v1", "HorizontalPodAutoscaler", ""),
    ("policy", "v1", "PodDisruptionBudget", ""),
    ("rbac.authorization.k8s.io", "v1", "Role RoleBinding", "ClusterRole ClusterRoleBinding"),
    ("networking.k8s.io", "v1", "Ingress NetworkPolicy", "IPAddress IngressClass ServiceCIDR"),
    ("discovery.k8s.io", "v1", "EndpointSlice", ""),
    ("coordination.k8s.io", "v1", "Lease", ""),
    ("events.k8s.io", "v1", "Event", ""),
    ("node.k8s.io", "v1", "", "RuntimeClass"),
    ("scheduling.k8s.io", "v1", "", "PriorityClass"),
    (
        "storage.k8s.io", "v1",
        "CSIStorageCapacity",
        "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    ),
    ("certificates.k8s.io", "v1", "", "CertificateSigningRequest"),
    (
        "admissionregistration.k8s.io", "v1",
        "",
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding \
         ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "v1", "", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "v1", "", "APIService"),
    ("flowcontrol.apiserver.k8s.io", "v1", "", "FlowSchema PriorityLevelConfiguration"),
    // Open Cluster Management.
    ("operator.open-cluster-management.io", "v1", "", "ClusterManager Klusterlet"),
    // Kuadrant.
    ("authorino.kuadrant.io", "v1beta3 v1beta2", "AuthConfig", ""),
    ("limitador.kuadrant.io", "v1alpha1", "Limitador", ""),
    // cert-manager.
    ("cert-manager.io", "v1", "CertificateRequest", "ClusterIssuer"),
    // Ours.
    (own_kinds::GROUP, own_kinds::VERSION, own_kinds::OVERLAY, own_kinds::RULE),
    // What else is in a GitOps repository.
    ("argoproj.io", "v1alpha1", "AppProject Application ApplicationSet", ""),
    ("multicluster.x-k8s.io", "v1alpha1", "ServiceExport ServiceImport", ""),
];

/// Policies of no release, whose definitions the catalog therefore does not have.
/// nginx/nginx-gateway-fabric config/crd/bases@e55bfe33969f313b210d3497b3ae56b923175d69
const UNRELEASED: [&str; 2] = ["ExternalLoadBalancer", "PayloadProcessor"];

/// Every row of the table, and every kind of the catalog.
fn kinds() -> impl Iterator<Item = KindInfo> {
    let rows = GROUPS
        .iter()
        .flat_map(|(group, versions, namespaced, of_cluster)| {
            let namespaced = namespaced.split_whitespace().map(|kind| (kind, Namespaced));
            let of_cluster = of_cluster.split_whitespace().map(|kind| (kind, Cluster));
            let mut kinds: Vec<(&str, Scope)> = namespaced.chain(of_cluster).collect();
            kinds.sort_unstable_by_key(|(kind, _)| *kind);
            let info = |(kind, scope)| built_in(group, versions, kind, scope);
            kinds.into_iter().map(info)
        });
    let unreleased = UNRELEASED.map(|kind| KindInfo {
        has_target: true,
        ..built_in("gateway.nginx.org", "v1alpha1", kind, Namespaced)
    });
    rows.chain(unreleased).chain(catalog::kinds().map(KindInfo::from))
}

fn built_in(group: &'static str, versions: &'static str, kind: &'static str, scope: Scope) -> KindInfo {
    KindInfo {
        group: group.into(),
        kind: kind.into(),
        plural: plural(kind).into(),
        scope,
        versions: versions.split_whitespace().map(Cow::from).collect(),
        has_target: false,
        parent_refs: false,
        has_policy_label: false,
        is_built_in: true,
    }
}

/// The name of a kind in URLs: of ours, as its definition says, and of others, as Kubernetes guesses it:
/// kubernetes/kubernetes staging/src/k8s.io/apimachinery/pkg/api/meta/restmapper.go@v1.34.1
pub fn plural(kind: &str) -> String {
    if kind == own_kinds::OVERLAY {
        return own_kinds::OVERLAYS.to_owned();
    }
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        _ if kind == "endpoints" => kind,
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}

/// All kinds that are known to a run.
#[derive(Debug, Clone)]
pub struct KindTable {
    kinds: Vec<KindInfo>,
    /// Positions by group and kind.
    by_kind: HashMap<String, HashMap<String, usize>>,
}

impl Default for KindTable {
    fn default() -> Self {
        Self::built_in()
    }
}

impl KindTable {
    /// The built-in kinds alone.
    pub fn built_in() -> Self {
        let mut table = Self {
            kinds: Vec::new(),
            by_kind: HashMap::new(),
        };
        for info in kinds() {
            table.insert(info);
        }
        table
    }

    /// The built-in kinds and those of `crds`; a CRD wins over a built-in row of its group and kind.
    pub fn with_crds<'c>(crds: impl IntoIterator<Item = &'c Crd>) -> Self {
        let mut table = Self::built_in();
        for crd in crds {
            table.insert(KindInfo::from(crd));
        }
        table
    }

    /// Adds a kind, in place of one with the same group and kind.
    pub fn insert(&mut self, info: KindInfo) {
        let of_group = self.by_kind.entry(info.group.to_string()).or_default();
        let index = *of_group.entry(info.kind.to_string()).or_insert(self.kinds.len());
        match self.kinds.get_mut(index) {
            Some(old) => *old = info,
            None => self.kinds.push(info),
        }
    }

    /// Every kind, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &KindInfo> {
        self.kinds.iter()
    }

    /// By group and kind.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&KindInfo> {
        self.kinds.get(*self.by_kind.get(group)?.get(kind)?)
    }

    /// Every kind of this name, regardless of its group.
    pub fn of_name(&self, kind: &str) -> impl Iterator<Item = &KindInfo> {
        self.kinds.iter().filter(move |info| info.kind == kind)
    }

    /// The kinds of policies that a name means, sorted: `AuthPolicy`, in any letter case, or with its group,
    /// `AuthPolicy.kuadrant.io`.
    ///
    /// # Errors
    /// The nearest name, if no kind is meant.
    pub fn policies(&self, name: &str) -> Result<Vec<GroupKind>, Option<String>> {
        let (kind, group) = match name.split_once('.') {
            Some((kind, group)) => (kind, Some(group)),
            None => (name, None),
        };
        let policies = self.kinds.iter().filter(|info| info.is_policy());
        let policies = policies.map(|info| GroupKind::new(&*info.group, &*info.kind));
        let (mut meant, others): (Vec<GroupKind>, Vec<GroupKind>) = policies.partition(|policy| {
            policy.kind.eq_ignore_ascii_case(kind) && group.is_none_or(|group| policy.group == group)
        });
        if meant.is_empty() {
            let names = others.iter().map(|policy| match group {
                Some(_) => policy.to_string(),
                None => policy.kind.to_string(),
            });
            let names: Vec<String> = names.collect();
            return Err(nearest(name, names.iter().map(String::as_str)).map(str::to_owned));
        }
        meant.sort();
        Ok(meant)
    }

    /// By group and plural resource name.
    pub fn plural(&self, group: &str, plural: &str) -> Option<&KindInfo> {
        let is_it = |info: &&KindInfo| info.group == group && info.plural == plural;
        self.kinds.iter().rfind(is_it)
    }

    /// The plural of a group nearest to a misspelled one. A kind or a singular written in place of the plural finds its
    /// plural.
    fn nearest_plural(&self, group: &str, plural: &str) -> Option<&str> {
        let of_group = || self.kinds.iter().filter(|info| info.group == group);
        of_group()
            .find(|info| info.kind.eq_ignore_ascii_case(plural))
            .map(|info| info.plural.as_ref())
            .or_else(|| nearest(plural, of_group().map(|info| info.plural.as_ref())))
    }

    /// The known group nearest to a misspelled one.
    fn nearest_group(&self, group: &str) -> Option<&str> {
        nearest(group, self.kinds.iter().map(|info| info.group.as_ref())).filter(|near| *near != group)
    }

    /// By group and plural resource name; the nearest known names if there is none.
    pub(super) fn resource(&self, group: &str, plural: &str) -> Result<&KindInfo, Near<'_>> {
        self.plural(group, plural).ok_or_else(|| {
            let near_group = self.nearest_group(group);
            Near {
                group: near_group,
                plural: self.nearest_plural(near_group.unwrap_or(group), plural),
            }
        })
    }
}

/// The known names that an unknown resource may be meant as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Near<'k> {
    /// The nearest group, if the group itself is unknown.
    pub(super) group: Option<&'k str>,
    /// The plural of the nearest resource of the group, or of the nearest one.
    pub(super) plural: Option<&'k str>,
}

/// Groups whose objects are interpreted or shipped as the table knows them. Policies are shipped in the version of the
/// parameters (`sync`), and what is neither is nothing that we could judge.
const READ_GROUPS: [&str; 3] = ["", "cluster.open-cluster-management.io", GROUP];

/// Whether objects of a kind are interpreted or shipped, so that their contents matter.
fn is_read(info: &KindInfo) -> bool {
    READ_GROUPS.contains(&info.group.as_ref())
        || info.is_policy()
        || info.group == ocm_work::GROUP
        || info.kind == "CustomResourceDefinition"
}

/// The same of an object that is not only shipped, but read by the rules of its group.
pub(crate) fn unknown_version_of_read(object: &Object, kinds: &KindTable) -> Option<Finding> {
    READ_GROUPS
        .contains(&object.api_version.group.as_str())
        .then(|| unknown_version(object, kinds))?
}

/// Says that an object has another version than those of its built-in kind. It would be read as if it had one of them,
/// and shipped as it is.
pub fn unknown_version(object: &Object, kinds: &KindTable) -> Option<Finding> {
    let ApiVersion { group, version } = &object.api_version;
    let info = kinds.kind(group, &object.kind)?;
    if !info.is_built_in || info.serves(version) {
        return None;
    }
    let known = ApiVersion {
        group: group.clone(),
        version: (&**info.versions.first()?).into(),
    };
    let what = format_args!("has the unknown version {version:?}");
    let finding = object.finding(Code::OBJECT_SCHEMA, "/apiVersion", what);
    // A reader that knows one version only finds the same mistake.
    let finding = finding
        .label(format!("known: {}", info.versions.join(", ")))
        .settles_field();
    Some(finding.help(format!(
        "write `apiVersion: {known}`; if the clusters serve {version}, add the CustomResourceDefinition to the input"
    )))
}

/// Corrects the kind and the group of an object whose kind nobody knows and is a typo away from a known one. `taught`
/// are kinds that the configuration describes: they exist.
pub(crate) fn correct_kind(
    object: &mut Object,
    kinds: &KindTable,
    taught: &BTreeSet<GroupKind>,
) -> Option<Finding> {
    let is_known = kinds.kind(&object.api_version.group, &object.kind).is_some();
    if is_known || taught.contains(&object.group_kind()) {
        return None;
    }
    let written = object.group_kind();
    let meant = meant(&written, kinds)?;
    let (at, label, name) = if meant.kind == written.kind.as_str() {
        let label = format!("{} is in another group", written.kind);
        let name = format!("{}/{}", meant.group, object.api_version.version);
        ("/apiVersion", label, name)
    } else {
        let label = match written.group.as_str() {
            "" => "not a kind of the core group".to_owned(),
            group => format!("not a known kind of the group `{group}`"),
        };
        ("/kind", label, meant.kind.to_string())
    };
    let identity = object.identity();
    let message = format!("the kind of {identity} is unknown, so nothing would read it");
    let finding = Finding::new(Code::OBJECT_UNKNOWN_KIND, object.place(at), message).label(label);
    let mut finding = finding.help(format!(
        "did you mean `{name}`? If the kind exists, add its CRD to the input"
    ));
    if !is_read(meant) {
        finding = finding.severity(Severity::Warning);
    }
    object.kind = (*meant.kind).into();
    object.api_version.group = (&*meant.group).into();
    Some(finding)
}

/// The known kind that one edit, or another end of the group, makes of it; the first by group and kind.
pub(crate) fn meant<'k>(written: &GroupKind, kinds: &'k KindTable) -> Option<&'k KindInfo> {
    let is_meant = |info: &&KindInfo| {
        (info.group == written.group.as_str() && is_slip(&info.kind, &written.kind))
            || (info.kind == written.kind.as_str() && is_slip_of_group(&info.group, &written.group))
    };
    let found = kinds.iter().filter(is_meant);
    found.min_by_key(|info| (info.group.as_ref(), info.kind.as_ref()))
}

/// Whether one of two different names is the other with one character added, left out, replaced or swapped with its
/// neighbor, or in other case.
fn is_slip(known: &str, written: &str) -> bool {
    known.len().abs_diff(written.len()) <= 4
        && (known.eq_ignore_ascii_case(written) || damerau_levenshtein(known, written) == 1)
}

/// Whether a group is a typo away from a known one, or ends otherwise: `kuadrant.com`.
fn is_slip_of_group(known: &str, written: &str) -> bool {
    let stem = |group: &str| group.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    !known.is_empty()
        && !written.is_empty()
        && (is_slip(known, written) || stem(known).is_some_and(|known| stem(written) == Some(known)))
}
