//! Putting the works of every cluster together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::collisions::{one_place, overwritten, two_contents};
use super::copies::{Carrier, Copies, Copy, copies};
use super::downstream::{set_metadata, shipped};
use super::feedback::{ResourceIdentifier, gateway_paths};
use super::findings::{namespace_too_long, substitution, too_large};
use super::names::{downstream_namespace, work_name};
use super::plan::{ManifestSummary, Plan, Work};
use super::policy_status::policy_status;
use super::replica_sets::{Draft, replica_sets};
use super::secrets::{GatewaySecrets, encrypted, gateway_secrets, rewrite};
use super::work::{Manifest, WorkParts, work_text};
use super::work_names::WorkNames;
use super::{Input, PlacedGateway, WorkKind, hub_objects, rbac};
use crate::api::config::HubObjects;
use crate::api::gateway::GROUP;
use crate::api::params::Params;
use crate::api::synced::MANAGED_LABEL;
use crate::diagnostic::Findings;
use crate::object::Object;
use crate::progress::Stage;
use crate::sync::{Cargo, NamespaceLabels};

/// Plans the works of every cluster. Works that nobody could apply are findings.
pub fn render(input: &Input<'_>, findings: &mut Findings) -> Plan {
    let mut assembly = Assembly {
        input,
        plan: Plan::default(),
        rbac: BTreeMap::new(),
        names: WorkNames::default(),
        drafts: Vec::new(),
    };
    let copies = assembly.copies(findings);
    assembly.own_works(&copies, findings);
    let mut riding: Vec<Vec<&Copy>> = Vec::new();
    riding.resize_with(input.gateways.len(), Vec::new);
    for copy in copies.iter().flat_map(|shipment| &shipment.copies) {
        if let Carrier::Gateway(index) = copy.carrier
            && let Some(riding) = riding.get_mut(index)
        {
            riding.push(copy);
        }
    }
    let steps = input.progress.count(Stage::Rendering, input.gateways.len());
    for (index, (gateway, riding)) in input.gateways.iter().zip(&riding).enumerate() {
        assembly.gateway_works((index, gateway), riding, findings);
        steps.advance(1);
    }
    drop(steps);
    let mut plan = match input.settings.work_kind {
        WorkKind::ManifestWork => {
            assembly.rbac_works();
            assembly.plan
        }
        WorkKind::ReplicaSet => {
            let sets = replica_sets(input.gateways, &assembly.drafts, findings);
            Plan {
                replica_sets: Some(sets),
                ..assembly.plan
            }
        }
    };
    let names: Vec<&str> = plan.works.iter().map(|work| work.name.as_str()).collect();
    for works in plan.clusters.values_mut() {
        works.sort_by_key(|work| names.get(*work).copied());
    }
    plan.gateways = input
        .gateways
        .iter()
        .filter(|gateway| !gateway.clusters.is_empty())
        .count();
    if input.settings.hub_objects == HubObjects::Annotated {
        plan.hub_objects = hub_objects::annotated(input, &copies_by_object(&copies), findings);
    }
    plan
}

/// The plan while it grows.
struct Assembly<'a> {
    input: &'a Input<'a>,
    plan: Plan,
    /// The custom resources shipped to each cluster.
    rbac: BTreeMap<String, rbac::Shipped>,
    names: WorkNames<'a>,
    /// With [`WorkKind::ReplicaSet`], the works before they become sets.
    drafts: Vec<Draft<'a>>,
}

impl<'a> Assembly<'a> {
    /// The copies of every shipment.
    fn copies(&mut self, findings: &mut Findings) -> Vec<Copies<'a>> {
        let mut all = Vec::new();
        for shipment in self.input.shipments {
            let object = shipment.object;
            let Some(kind) = self.input.hub.kinds.kind(&object.api_version.group, &object.kind) else {
                continue;
            };
            let is_policy = shipment.cargo == Cargo::Policy;
            let status = is_policy.then(|| policy_status(&object.group_kind(), self.input.hub));
            if shipment.value.get("sops").is_some() {
                findings.push(encrypted(shipment.object));
                continue;
            }
            let copies = copies(shipment, kind, status, self.input.gateways);
            if !copies.is_empty() {
                let count = match shipment.cargo {
                    Cargo::Policy => &mut self.plan.policies,
                    Cargo::Route => &mut self.plan.routes,
                };
                *count = count.saturating_add(1);
            }
            all.push(Copies {
                object: shipment.object,
                sources: &shipment.sources,
                copies,
            });
        }
        two_contents(&all, findings);
        one_place(&all, findings);
        all
    }

    /// Works of policies and routes that do not ride with a Gateway.
    fn own_works(&mut self, copies: &[Copies<'a>], findings: &mut Findings) {
        for shipment in copies {
            for copy in shipment.copies.iter().filter(|copy| copy.carrier == Carrier::Own) {
                let gateway = copy.gateways.first();
                let Some(gateway) = gateway.and_then(|first| self.input.gateways.get(*first)) else {
                    continue;
                };
                let mut manifests = namespaces(&copy.manifests, self.input.namespace_labels);
                manifests.extend(copy.manifests.iter().cloned());
                let goes = (copy.gateways.as_slice(), copy.clusters.as_slice());
                self.add(shipment.object, manifests, gateway.params, goes, findings);
            }
        }
    }

    /// The works of one Gateway: one content for all clusters where the same policies ride with it.
    fn gateway_works(
        &mut self,
        (index, gateway): (usize, &PlacedGateway<'a>),
        riding: &[&Copy],
        findings: &mut Findings,
    ) {
        if gateway.clusters.is_empty() {
            return;
        }
        let object = gateway.gateway.object;
        let secrets = gateway_secrets(
            gateway.gateway,
            self.input.settings.secrets,
            self.input.hub,
            self.input.grants,
            findings,
        );
        let Some(own) = gateway_manifest(gateway, &secrets, findings) else {
            return;
        };
        for (riders, clusters) in by_riders(&gateway.clusters, riding) {
            let mut passengers = vec![own.clone()];
            passengers.extend(secrets.manifests.iter().cloned());
            let mut aboard: Vec<(Cargo, &Manifest)> = riders
                .iter()
                .filter_map(|rider| riding.get(*rider))
                .flat_map(|copy| copy.manifests.iter().map(|manifest| (copy.cargo, manifest)))
                .collect();
            aboard.sort_by_key(|(cargo, manifest)| {
                (
                    *cargo,
                    &manifest.resource.group,
                    &manifest.kind,
                    &manifest.resource.namespace,
                    &manifest.resource.name,
                )
            });
            passengers.extend(aboard.into_iter().map(|(_, manifest)| manifest.clone()));
            let mut manifests = namespaces(&passengers, self.input.namespace_labels);
            manifests.extend(passengers);
            let goes = (&[index][..], clusters.as_slice());
            self.add(object, manifests, gateway.params, goes, findings);
        }
    }

    /// One work with one content for a set of clusters.
    fn add(
        &mut self,
        object: &'a Object,
        manifests: Vec<Manifest>,
        params: &'a Params,
        (gateways, clusters): (&[usize], &[String]),
        findings: &mut Findings,
    ) {
        findings.extend(overwritten(self.input.hub, object, &manifests, clusters));
        let parts = WorkParts {
            name: work_name(object),
            parent: Some(object.key()),
            manifests,
        };
        if !self.names.claim(&parts.name, object, findings) {
            return;
        }
        let work = work_text(&parts, Some(params));
        if work.size > params.max_work_bytes {
            findings.push(too_large(object, work.size, params.max_work_bytes, &parts.name));
        }
        if work.guarded {
            findings.push(substitution(object, &parts.name));
        }
        let custom: rbac::Shipped = parts
            .manifests
            .iter()
            .filter(|manifest| !manifest.resource.group.is_empty())
            .map(|manifest| {
                (
                    manifest.resource.group.clone(),
                    manifest.resource.resource.clone(),
                )
            })
            .collect();
        let position = self.plan.works.len();
        self.plan.works.push(Work {
            name: parts.name.clone(),
            text: work,
            manifests: summaries(&parts.manifests),
        });
        if self.input.settings.work_kind == WorkKind::ReplicaSet {
            self.drafts.push(Draft {
                object,
                gateways: gateways.to_vec(),
                clusters: clusters.to_vec(),
                params,
                custom: custom.clone(),
                parts,
            });
        }
        for cluster in clusters {
            self.plan
                .clusters
                .entry(cluster.clone())
                .or_default()
                .push(position);
            self.rbac
                .entry(cluster.clone())
                .or_default()
                .extend(custom.iter().cloned());
        }
    }

    /// The RBAC work of each cluster; clusters that are shipped the same kinds share one.
    fn rbac_works(&mut self) {
        let mut by_content: BTreeMap<rbac::Shipped, Vec<String>> = BTreeMap::new();
        for (cluster, shipped) in std::mem::take(&mut self.rbac) {
            by_content.entry(shipped).or_default().push(cluster);
        }
        for (shipped, clusters) in by_content {
            let manifests = rbac::manifests(rbac::ROLE_NAME, &shipped)
                .into_iter()
                .map(rbac_manifest)
                .collect();
            let parts = WorkParts {
                name: rbac::WORK_NAME.to_owned(),
                parent: None,
                manifests,
            };
            let position = self.plan.works.len();
            let text = work_text(&parts, None);
            self.plan.works.push(Work {
                name: parts.name,
                text,
                manifests: summaries(&parts.manifests),
            });
            for cluster in clusters {
                self.plan.clusters.entry(cluster).or_default().push(position);
            }
        }
    }
}

/// The downstream Gateway.
fn gateway_manifest(
    placed: &PlacedGateway<'_>,
    secrets: &GatewaySecrets,
    findings: &mut Findings,
) -> Option<Manifest> {
    let object = placed.gateway.object;
    let Some(namespace) = downstream_namespace(object.namespace_or_empty()) else {
        findings.push(namespace_too_long(object));
        return None;
    };
    let mut value = shipped(&object.value, &object.name, &namespace);
    set_metadata(&mut value, "labels", MANAGED_LABEL, "true");
    if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert(
            "gatewayClassName".to_owned(),
            json!(placed.params.downstream_class),
        );
    }
    rewrite(&mut value, &secrets.rewrites);
    Some(Manifest {
        resource: ResourceIdentifier {
            group: GROUP.to_owned(),
            resource: "gateways".to_owned(),
            namespace,
            name: object.name.clone(),
        },
        kind: object.kind.clone(),
        value,
        feedback: gateway_paths(placed.gateway, placed.params.raw_feedback),
        origins: vec![object.origin.clone()],
    })
}

/// The Namespaces of the manifests, each once, with the labels by which listeners select routes from them.
fn namespaces(manifests: &[Manifest], labels: &NamespaceLabels) -> Vec<Manifest> {
    let names: BTreeSet<&str> = manifests
        .iter()
        .map(|manifest| manifest.resource.namespace.as_str())
        .filter(|namespace| !namespace.is_empty())
        .collect();
    names
        .into_iter()
        .map(|name| Manifest {
            resource: ResourceIdentifier {
                group: String::new(),
                resource: "namespaces".to_owned(),
                namespace: String::new(),
                name: name.to_owned(),
            },
            kind: "Namespace".to_owned(),
            value: match labels.get(name) {
                Some(labels) => {
                    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
                }
                None => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
            },
            feedback: Vec::new(),
            origins: Vec::new(),
        })
        .collect()
}

pub(super) fn rbac_manifest(value: Value) -> Manifest {
    let text = |pointer: &str| {
        value
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    Manifest {
        resource: ResourceIdentifier {
            group: rbac::RBAC_GROUP.to_owned(),
            resource: format!("{}s", kind.to_lowercase()),
            namespace: String::new(),
            name,
        },
        kind,
        value,
        feedback: Vec::new(),
        origins: Vec::new(),
    }
}

/// Groups the clusters of a Gateway by the copies that ride with it there.
///
/// Almost always every copy goes to every cluster of the Gateway, and there is one group.
fn by_riders(clusters: &[String], riding: &[&Copy]) -> BTreeMap<Vec<usize>, Vec<String>> {
    let mut everywhere = Vec::new();
    let mut special: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (rider, copy) in riding.iter().enumerate() {
        if copy.clusters == clusters {
            everywhere.push(rider);
        } else {
            for cluster in &copy.clusters {
                special.entry(cluster).or_default().push(rider);
            }
        }
    }
    let mut groups: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
    for cluster in clusters {
        let mut riders = everywhere.clone();
        riders.extend(special.get(cluster.as_str()).into_iter().flatten());
        riders.sort_unstable();
        groups.entry(riders).or_default().push(cluster.clone());
    }
    groups
}

/// The downstream places of each shipped object, by its locator.
fn copies_by_object(copies: &[Copies<'_>]) -> BTreeMap<String, Vec<hub_objects::Downstream>> {
    let mut places: BTreeMap<String, Vec<hub_objects::Downstream>> = BTreeMap::new();
    for shipment in copies {
        let downstream: Vec<hub_objects::Downstream> = shipment
            .copies
            .iter()
            .flat_map(hub_objects::Downstream::of_copy)
            .collect();
        for source in shipment.sources {
            places
                .entry(source.identity().locator())
                .or_default()
                .extend(downstream.iter().cloned());
        }
    }
    places
}

pub(super) fn summaries(manifests: &[Manifest]) -> Vec<ManifestSummary> {
    manifests
        .iter()
        .map(|manifest| ManifestSummary {
            kind: manifest.kind.clone(),
            group: manifest.resource.group.clone(),
            resource: manifest.resource.resource.clone(),
            namespace: manifest.resource.namespace.clone(),
            name: manifest.resource.name.clone(),
            origins: manifest.origins.clone(),
        })
        .collect()
}
