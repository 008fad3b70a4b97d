//! What this module's unit tests share: objects from JSON, a hub from YAML.

pub(crate) mod hubs;

use std::collections::{BTreeSet, HashMap};

use kube_json::Value;
use ocm_hub::source::{Document, Room};

use crate::diagnostic::{DocumentId, Findings, SourceId, Warnings};
use crate::hub::{self, Hub};
use crate::object::Object;
use crate::outcome::{ObjectStatus, PolicyReport, PolicyView, Prediction};
use crate::placing::Clusters;
use crate::sync::SyncedRoutes;
use crate::topology::Sources;

/// [`Object::alone`].
pub(crate) fn object(value: Value) -> Object {
    Object::alone(value)
}

/// The CRDs of public projects, by path.
#[cfg(feature = "real-crds")]
pub(crate) fn real_crds() -> Vec<(std::path::PathBuf, Object)> {
    let crds = test_crds::real_crds().into_iter();
    crds.map(|(path, value)| (path, object(value))).collect()
}

/// A hub of YAML documents, and of what lives on clusters.
pub(crate) fn hub(text: &str, spokes: &[(&str, &str)]) -> Hub {
    let mut rooms = vec![(Room::Hub, text)];
    rooms.extend(
        spokes
            .iter()
            .map(|(cluster, text)| (Room::Spoke((*cluster).to_owned()), *text)),
    );
    let mut findings = Findings::new();
    let hub = hub::build(documents(&rooms), &hub::Options::default(), &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    hub
}

/// The documents of texts, as if each were a file of its room.
pub(crate) fn documents(rooms: &[(Room, &str)]) -> Vec<Document> {
    let mut documents = Vec::new();
    for (source, (room, text)) in rooms.iter().cloned().enumerate() {
        for (index, value) in kube_yaml::read_all(text, &kube_yaml::Limits::default())
            .unwrap()
            .into_iter()
            .enumerate()
        {
            documents.push(Document {
                id: DocumentId {
                    source: SourceId(u32::try_from(source).unwrap()),
                    index: u32::try_from(index).unwrap(),
                },
                room: room.clone(),
                value,
            });
        }
    }
    documents
}

/// GatewayClass `gc`, Gateway `infra/gw` with listeners `http` and `https`, HTTPRoutes `infra/r1` (rules `first` and
/// an unnamed one) and `infra/r2`, Service `infra/s`.
pub(crate) const SMALL: &str = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: gc}
spec: {controllerName: kuadrant.io/mgc-gw-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: infra}
spec:
  gatewayClassName: gc
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: https, port: 443, protocol: HTTPS}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r1, namespace: infra}
spec:
  parentRefs: [{name: gw}]
  rules:
  - {name: first, backendRefs: [{name: s, port: 80}]}
  - {backendRefs: [{name: s, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r2, namespace: infra}
spec:
  parentRefs: [{name: gw, sectionName: http}]
  rules: [{backendRefs: [{name: s, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: infra}
spec: {ports: [{name: http, port: 80}]}
"#;

/// [`SMALL`], with parameters that ask for RateLimitPolicies.
pub(crate) fn small_with_params() -> String {
    SMALL.replace(
        "spec: {controllerName: kuadrant.io/mgc-gw-controller}",
        "spec: {controllerName: kuadrant.io/mgc-gw-controller, parametersRef: {group: \"\", kind: ConfigMap, name: p, namespace: infra}}",
    ) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: p, namespace: infra}\ndata:\n  params: |\n    \
         {policiesToSync: [{group: kuadrant.io, version: v1, resource: ratelimitpolicies}]}\n"
}

/// A RateLimitPolicy `infra/<name>` on something of Gateway API's group.
pub(crate) fn limit(name: &str, target: &str, settings: &str) -> String {
    format!(
        "---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {{name: {name}, namespace: infra}}\n\
         spec: {{targetRef: {{group: gateway.networking.k8s.io, {target}}}, {settings}}}\n"
    )
}

/// The CRD of ColorPolicy, a made-up kind of this class.
pub(crate) fn color_crd(class: &str) -> String {
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: colorpolicies.colors.example.com, labels: {{gateway.networking.k8s.io/policy: \"{class}\"}}}}\n\
         spec: {{group: colors.example.com, scope: Namespaced, \
         names: {{kind: ColorPolicy, listKind: ColorPolicyList, plural: colorpolicies, singular: colorpolicy}}, \
         versions: [{{name: v1, served: true, storage: true, \
         schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}]}}\n"
    )
}

/// A ColorPolicy `infra/<name>`.
pub(crate) fn color(name: &str, target: &str, settings: &str) -> String {
    format!(
        "---\napiVersion: colors.example.com/v1\nkind: ColorPolicy\nmetadata: {{name: {name}, namespace: infra}}\n\
         spec: {{targetRefs: [{{{target}}}], {settings}}}\n"
    )
}

/// Everything about a hub whose Gateways all stay on it, for a test to look at: it is evaluated as a cluster of its own.
pub(crate) struct Seen<'a> {
    pub(crate) attachments: crate::policy::Attachments<'a>,
    pub(crate) effective: crate::policy::EffectivePolicies,
    pub(crate) fates: crate::policy::Fates<'a>,
    pub(crate) findings: Findings,
}

impl<'a> Seen<'a> {
    pub(crate) fn hub(hub: &'a Hub) -> Self {
        Self::of(hub, &crate::policy::Options::default())
    }

    pub(crate) fn of(hub: &'a Hub, options: &crate::policy::Options<'_>) -> Self {
        let mut findings = Findings::new();
        let grants = hub::Grants::new(&hub.objects);
        let sources = Sources::hub(&hub.objects);
        let attachments =
            crate::policy::Attachments::new(sources, &HashMap::new(), &grants, options, &mut findings);
        let effective = crate::policy::EffectivePolicies::new(&attachments, &apimachinery::Work::default());
        let mut fates = crate::policy::Fates::default();
        fates.add(&[], &attachments, &effective, |_| true);
        crate::sync::report_same_target(&attachments, |_, _| true, &mut findings);
        crate::policy::outcomes(&attachments, &fates, &mut findings);
        findings.finish(&std::collections::BTreeMap::default(), Warnings::Reported);
        Self {
            attachments,
            effective,
            fates,
            findings,
        }
    }

    /// What reports read.
    pub(crate) fn view<T>(&self, look: impl FnOnce(&PolicyView<'_>) -> T) -> T {
        look(&PolicyView {
            hub: &self.attachments,
            hub_effective: crate::policy::EffectivePolicies::new(
                &self.attachments,
                &apimachinery::Work::default(),
            ),
            spokes: Vec::new(),
            fates: self.fates.clone(),
            clusters: &Clusters::new(),
            routes: &SyncedRoutes::default(),
            cluster: None,
            withheld: &[],
            refusals: crate::outcome::Refusals::new(),
            overlays: Vec::new(),
            rules: Vec::new(),
        })
    }

    /// What is reported about its policies.
    pub(crate) fn report(&self) -> PolicyReport {
        self.view(PolicyReport::for_text)
    }

    /// The predicted statuses of everything, as a controller of this name has them.
    pub(crate) fn statuses(&self, hub: &Hub, controller: &str) -> Vec<ObjectStatus> {
        let ours = hub::Ours::new(hub, controller);
        let clusters = ours.gateways.map(|_| [].into());
        self.view(|view| {
            let prediction = Prediction {
                objects: &hub.objects,
                ours: &ours,
                clusters: &clusters,
                not_found: &BTreeSet::new(),
                view,
            };
            prediction.statuses().unwrap()
        })
    }

    /// The number of a policy by `Kind namespace/name`.
    pub(crate) fn id(&self, policy: &str) -> crate::policy::PolicyId {
        let found = self
            .attachments
            .policies
            .iter()
            .find(|(_, known)| known.object.identity().to_string() == policy);
        found.unwrap().0
    }

    /// The result at the path whose last locators (less group and kind) are these, as JSON.
    pub(crate) fn spec(&self, path: &[&str]) -> Option<Value> {
        let mut found = self.effective.iter().filter_map(|(kind, known)| {
            let locators = self.attachments.topology.path_locators(&known.path);
            let names: Vec<&str> = locators
                .iter()
                .filter_map(|locator| locator.rsplit(['/', ':']).next())
                .skip(1)
                .collect();
            let profile = &self.attachments.kinds.get(kind).profile;
            (names == path).then(|| known.effective.spec(profile)).flatten()
        });
        found.next()
    }

    /// `code message` of every finding.
    pub(crate) fn said(&self) -> Vec<String> {
        self.findings
            .iter()
            .map(|finding| format!("{} {}", finding.code.name(), finding.message))
            .collect()
    }
}
