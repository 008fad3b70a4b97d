//! Kuadrant (docs/systems/kuadrant.md#policy-kinds).

use std::collections::{BTreeMap, BTreeSet};

use apimachinery::Field;

use super::Product;
use crate::object::Object;
use crate::policy::profile::{Profile, StatusShape};
use crate::topology::{GatewayId, ListenerId, Topology};

pub(super) struct Kuadrant;

impl Product for Kuadrant {
    // Kuadrant follows no ListenerSet, neither in Kuadrant/policy-machinery@v0.7.1 nor in
    // Kuadrant/kuadrant-operator@v1.5.2.
    fn ignored_listeners(
        &self,
        profile: &Profile,
        topology: &Topology<'_>,
        gateway: GatewayId,
    ) -> BTreeSet<ListenerId> {
        if profile.status != StatusShape::Kuadrant {
            return BTreeSet::new();
        }
        let gateway = topology.gateways.get(gateway);
        let is_tls_policy = profile.kind == "TLSPolicy";
        let faults = is_tls_policy.then(|| self.certificate_faults(gateway.object));
        let faults = faults.unwrap_or_default();
        let is_ignored = |listener: &ListenerId| {
            let node = topology.listeners.get(*listener);
            // Where there is no TLS, its place is that of any policy.
            let is_of_tls = ["HTTPS", "TLS"].contains(&node.protocol);
            node.set.is_some() || (is_of_tls && faults.contains_key(node.pointer))
        };
        gateway.listeners.iter().copied().filter(is_ignored).collect()
    }

    // The listeners of a Gateway, by their pointers, for which a TLSPolicy makes no Certificate, and why:
    // Kuadrant/kuadrant-operator internal/controller/effective_tls_policies_reconciler.go@v1.5.2.
    fn certificate_faults(&self, gateway: &Object) -> BTreeMap<String, String> {
        let own = gateway.namespace_or_empty();
        let listeners = gateway.root().get("spec").get("listeners");
        let listeners = listeners.items().map(|listener| {
            let secrets = listener.get("tls").get("certificateRefs").items();
            let secrets = secrets.map(|secret| {
                let namespace = secret.text("namespace").filter(|namespace| !namespace.is_empty());
                (namespace.unwrap_or(own), secret.text("name").unwrap_or_default())
            });
            (listener, secrets.collect())
        });
        let listeners: Vec<(Field<'_>, BTreeSet<(&str, &str)>)> = listeners.collect();
        // Kuadrant makes no Certificate for a Secret that two listeners name (docs/systems/kuadrant.md#paths).
        let mut named_by: BTreeMap<&(&str, &str), Vec<usize>> = BTreeMap::new();
        for (position, (_, secrets)) in listeners.iter().enumerate() {
            for secret in secrets {
                named_by.entry(secret).or_default().push(position);
            }
        }
        let fault = |position: usize, (listener, secrets): &(Field<'_>, BTreeSet<(&str, &str)>)| {
            let mode = listener.get("tls").text("mode").unwrap_or_default();
            let hostname = listener.text("hostname").unwrap_or_default();
            let is_elsewhere = secrets.iter().any(|(namespace, _)| *namespace != own);
            let faults = [
                (listener.member("tls").is_none(), "it has no `tls`"),
                (!["", "Terminate"].contains(&mode), "TLS does not end there"),
                (hostname.is_empty(), "it has no hostname"),
                (secrets.is_empty(), "it names no Secret"),
                (is_elsewhere, "its Secret is in another namespace"),
            ];
            if let Some((_, fault)) = faults.into_iter().find(|(is_so, _)| *is_so) {
                return Some(fault.to_owned());
            }
            let mut others = secrets.iter().filter_map(|secret| {
                let mut others = named_by.get(secret)?.iter().filter(|other| **other != position);
                listeners.get(*others.next()?)
            });
            let name = others.next()?.0.text("name").unwrap_or_default();
            Some(format!("listener `{name}` names its Secret, too"))
        };
        let faults = listeners.iter().enumerate();
        let faults = faults.filter_map(|(position, listener)| {
            let fault = fault(position, listener)?;
            Some((listener.0.pointer(), fault))
        });
        faults.collect()
    }
}
