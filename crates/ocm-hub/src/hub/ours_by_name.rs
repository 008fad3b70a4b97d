//! Which objects rendering uses, as far as names show it before anything is read.
//!
//! Owns: this decision for the kinds of the chain: our GatewayClasses, their Gateways, ListenerSets, routes, policies,
//! ReferenceGrants. Flows in: the objects of the hub, the name of our controller, the
//! table of kinds. Flows out: [`Use`]. Must not know: what is wrong with an object.
//!
//! Only objects that rendering uses can stop it, so only they are checked against a schema that is not in the input. An
//! object with a broken reference counts as used: the schema reports what is wrong with it.

use std::collections::HashSet;

use crate::api::gateway::{GROUP, is_listener_set};
use crate::api::kinds::KindTable;
use crate::object::Object;
use kube_json::Value;

/// Whether rendering uses an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It does, or it cannot be told.
    Used,
    /// It names nothing that is ours.
    Unused,
    /// It names nothing at all.
    NamesNothing,
}

/// Our objects in a hub, by kind, namespace (empty for classes), and name.
#[derive(Debug, Default)]
pub(super) struct OursByName<'a> {
    ours: HashSet<(&'a str, &'a str, &'a str)>,
    namespace: &'a str,
}

/// The fields that name what an object is attached to.
pub(super) const REFERENCES: [&str; 4] = ["parentRefs", "targetRef", "targetRefs", "targetSelectors"];

impl<'a> OursByName<'a> {
    /// Looks at all objects of the hub; `namespace` is for those that name none.
    pub(super) fn new(
        objects: &[&'a Object],
        kinds: &KindTable,
        controller_name: &str,
        namespace: Option<&'a str>,
    ) -> Self {
        let mut chain = Self {
            ours: HashSet::new(),
            namespace: namespace.unwrap_or_default(),
        };
        let of = |wanted: &'static str| objects.iter().filter(move |object| object.is(GROUP, wanted));
        for class in of("GatewayClass") {
            let name = class.root().get("spec").get("controllerName");
            if name.str().is_none_or(|name| name == controller_name) {
                chain.ours.insert(("GatewayClass", "", &class.name));
            }
        }
        for gateway in of("Gateway") {
            let class = gateway.root().get("spec").get("gatewayClassName");
            if class
                .str()
                .is_none_or(|class| chain.ours.contains(&("GatewayClass", "", class)))
            {
                chain.insert(gateway);
            }
        }
        for set in of("ListenerSet").chain(of("XListenerSet")) {
            let parent = set.value.get("spec").and_then(|spec| spec.get("parentRef"));
            if chain.names(set, parent.unwrap_or(&Value::Null), "Gateway") {
                chain.insert(set);
            }
        }
        for object in objects {
            let info = kinds.kind(&object.api_version.group, &object.kind);
            if info.is_some_and(|info| info.parent_refs) && chain.use_of(object, kinds) == Use::Used {
                chain.insert(object);
            }
        }
        chain
    }

    /// Whether no class is ours: its Gateways, and all that is attached to them, may be ours or another controller's.
    pub(super) fn has_no_class(&self) -> bool {
        !self.ours.iter().any(|(kind, ..)| *kind == "GatewayClass")
    }

    /// Whether rendering uses `object`.
    pub(super) fn use_of(&self, object: &Object, kinds: &KindTable) -> Use {
        let group = object.api_version.group.as_str();
        match (group, object.kind.as_str()) {
            (GROUP, "ReferenceGrant") => return Use::Used,
            (GROUP, "GatewayClass") => return used(self.ours.contains(&("GatewayClass", "", &object.name))),
            (GROUP, "Gateway") => return used(self.has(&object.kind, object)),
            (group, kind) if is_listener_set(group, kind) => return used(self.has(&object.kind, object)),
            _ => {}
        }
        let info = kinds.kind(group, &object.kind);
        if info.is_some_and(|info| !info.parent_refs && !info.has_target) {
            return Use::Unused;
        }
        let spec = object.value.get("spec");
        let member = |name: &&str| spec?.get(name).filter(|value| !value.is_null());
        let mut present = REFERENCES.iter().filter_map(member).peekable();
        if present.peek().is_none() {
            // Of an unknown kind this is nothing special.
            return if info.is_some() {
                Use::NamesNothing
            } else {
                Use::Unused
            };
        }
        // Whether a route of ours leads to a Service, or to another backend, is not known before routes are read.
        let is_parent = |kind: &str| {
            matches!(kind, "Gateway" | "GatewayClass" | "ListenerSet" | "XListenerSet")
                || kinds.iter().any(|info| info.parent_refs && info.kind == kind)
        };
        let is_route = info.is_some_and(|info| info.parent_refs);
        let leads = |reference: &Value, default| {
            let kind = reference.get("kind").and_then(Value::as_str);
            let may_be_backend = !is_route && kind.is_some_and(|kind| !is_parent(kind));
            may_be_backend || self.names(object, reference, default)
        };
        used(present.any(|value| match value {
            Value::Array(items) => items.iter().any(|item| leads(item, "Gateway")),
            _ => leads(value, ""),
        }))
    }

    /// Whether a reference of `object` leads to an object of ours, or is broken, or selects objects without naming
    /// them.
    fn names(&self, object: &Object, reference: &Value, default: &str) -> bool {
        let text = |name: &str| reference.get(name).and_then(Value::as_str);
        let kind = match reference.get("kind") {
            None | Some(Value::Null) => Some(default),
            Some(kind) => kind.as_str(),
        };
        let (Some(kind), Some(name)) = (kind, text("name")) else {
            return true;
        };
        match kind {
            "" | "Namespace" => true,
            "GatewayClass" => self.ours.contains(&(kind, "", name)),
            _ => {
                let namespace = text("namespace");
                let namespace = namespace.unwrap_or_else(|| self.namespace_of(object));
                self.ours.contains(&(kind, namespace, name))
            }
        }
    }

    fn insert(&mut self, object: &'a Object) {
        let namespace = object.namespace.as_deref().unwrap_or(self.namespace);
        self.ours.insert((&object.kind, namespace, &object.name));
    }

    fn has(&self, kind: &str, object: &Object) -> bool {
        self.ours
            .contains(&(kind, self.namespace_of(object), &object.name))
    }

    fn namespace_of<'o>(&'o self, object: &'o Object) -> &'o str {
        object.namespace.as_deref().unwrap_or(self.namespace)
    }
}

const fn used(is_used: bool) -> Use {
    if is_used { Use::Used } else { Use::Unused }
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;
    use crate::tests::object;

    fn of(api: &str, kind: &str, name: &str, spec: Value) -> Object {
        object(
            json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "n"}, "spec": spec}),
        )
    }

    fn uses(more: Object) -> Use {
        let gateway = "gateway.networking.k8s.io/v1";
        let hub = [
            of(gateway, "GatewayClass", "ours", json!({"controllerName": "us"})),
            of(
                gateway,
                "GatewayClass",
                "other",
                json!({"controllerName": "them"}),
            ),
            of(gateway, "Gateway", "ours", json!({"gatewayClassName": "ours"})),
            of(gateway, "Gateway", "other", json!({"gatewayClassName": "other"})),
            of(
                gateway,
                "ListenerSet",
                "ours",
                json!({"parentRef": {"name": "ours"}}),
            ),
            of(
                gateway,
                "HTTPRoute",
                "ours",
                json!({"parentRefs": [{"kind": "ListenerSet", "name": "ours"}]}),
            ),
            of(
                gateway,
                "HTTPRoute",
                "other",
                json!({"parentRefs": [{"name": "other"}]}),
            ),
            more,
        ];
        let hub: Vec<&Object> = hub.iter().collect();
        let kinds = KindTable::built_in();
        let chain = OursByName::new(&hub, &kinds, "us", None);
        hub.last()
            .map(|object| chain.use_of(object, &kinds))
            .expect("objects")
    }

    #[test]
    fn what_hangs_on_our_gateways_is_used_and_what_hangs_on_others_is_not() {
        let policy = |kind: &str, name: &str| {
            let target = json!({"targetRef": {"kind": kind, "name": name}});
            uses(of("kuadrant.io/v1", "AuthPolicy", "p", target))
        };
        for kind in ["Gateway", "HTTPRoute"] {
            assert_eq!(
                (policy(kind, "ours"), policy(kind, "other")),
                (Use::Used, Use::Unused),
                "{kind}"
            );
        }
        assert_eq!(policy("ListenerSet", "ours"), Use::Used);
        // Any route may lead to it.
        assert_eq!(policy("Service", "other"), Use::Used);
        assert_eq!(policy("GatewayClass", "other"), Use::Unused);
        assert_eq!(policy("Gateway", "nobody"), Use::Unused);
        let route = |name: &str| {
            let parents = json!({"parentRefs": [{"name": "nobody"}, {"name": name}]});
            uses(of("gateway.networking.k8s.io/v1", "GRPCRoute", "r", parents))
        };
        assert_eq!((route("ours"), route("other")), (Use::Used, Use::Unused));
    }

    #[test]
    fn a_broken_reference_counts_as_ours_and_none_at_all_is_a_case_of_its_own() {
        let policy = |spec: Value| uses(of("kuadrant.io/v1", "AuthPolicy", "p", spec));
        assert_eq!(policy(json!({"targetRef": 7})), Use::Used);
        assert_eq!(policy(json!({"targetRef": {"kind": "Gateway"}})), Use::Used);
        assert_eq!(policy(json!({"targetref": {}})), Use::NamesNothing);
        let gateway = |spec: Value| uses(of("gateway.networking.k8s.io/v1", "Gateway", "g", spec));
        assert_eq!(gateway(json!({"gatewayClasName": "ours"})), Use::Used);
        assert_eq!(gateway(json!({"gatewayClassName": "other"})), Use::Unused);
    }

    #[test]
    fn other_kinds_are_not_used_and_unknown_ones_only_by_what_they_name() {
        assert_eq!(
            uses(of("cert-manager.io/v1", "Certificate", "c", json!({}))),
            Use::Unused
        );
        let unknown = |spec: Value| uses(of("acme.io/v1", "WidgetPolicy", "w", spec));
        assert_eq!(
            unknown(json!({"targetRef": {"kind": "Gateway", "name": "ours"}})),
            Use::Used
        );
        assert_eq!(unknown(json!({})), Use::Unused);
    }
}
