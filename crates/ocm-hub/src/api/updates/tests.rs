//! The rules say of updates what API servers say.

use kube_json::json;

use super::*;

/// What is refused of an update, each with what changes.
fn told(kind: (&str, &str), server_side: bool, old: &Value, new: &Value) -> Vec<String> {
    let work = Work::default();
    let schemas = rules(kind.0, kind.1, server_side);
    let refusals = schemas.flat_map(|schema| refusals(schema, old, new, &work));
    refusals
        .map(|refusal| format!("{} {}", refusal.pointer, refusal.changes.join(", ")))
        .collect()
}

#[test]
fn the_file_has_only_rules_that_compile() {
    assert!(RULES.len() > 8);
    for (schema, rules) in RULES.iter() {
        assert_eq!(schema.verify(), vec![], "{rules:?}");
        assert!(schema.has_transitions(), "{rules:?}");
        let all = rules.schema["x-kubernetes-validations"]
            .as_array()
            .expect("rules");
        assert!(all.iter().all(|rule| rule["fieldPath"].is_string()), "{rules:?}");
    }
}

#[test]
fn each_kind_keeps_what_it_must() {
    let of_spec = |spec: Value| json!({"spec": spec});
    let claim = ("", "PersistentVolumeClaim");
    let modes = |mode: &str| of_spec(json!({"accessModes": [mode]}));
    let class = |class: &str| of_spec(json!({"storageClassName": class}));
    let selector = |app: &str| of_spec(json!({"selector": {"matchLabels": {"app": app}}}));
    let job = |image: &str, suspend: bool| of_spec(json!({"suspend": suspend, "template": {"image": image}}));
    let role = |name: &str| json!({"roleRef": {"kind": "Role", "name": name}});
    let rbac = ("rbac.authorization.k8s.io", "RoleBinding");
    let slice = ("discovery.k8s.io", "EndpointSlice");
    let refused = [
        (
            claim,
            modes("ReadWriteOnce"),
            modes("ReadWriteMany"),
            "/spec/accessModes",
        ),
        (claim, class("a"), class("b"), "/spec/storageClassName"),
        (claim, class("a"), of_spec(json!({})), "/spec/storageClassName"),
        (
            claim,
            of_spec(json!({})),
            of_spec(json!({"volumeMode": "Block"})),
            "/spec/volumeMode",
        ),
        (
            ("apps", "Deployment"),
            selector("a"),
            selector("b"),
            "/spec/selector",
        ),
        (
            ("apps", "StatefulSet"),
            selector("a"),
            selector("b"),
            "/spec/selector",
        ),
        (
            ("apps", "StatefulSet"),
            of_spec(json!({})),
            of_spec(json!({"serviceName": "a"})),
            "/spec/serviceName",
        ),
        (
            ("batch", "Job"),
            job("a", false),
            job("b", false),
            "/spec/template",
        ),
        (rbac, role("a"), role("b"), "/roleRef"),
        (
            slice,
            json!({"addressType": "IPv4"}),
            json!({"addressType": "IPv6"}),
            "/addressType",
        ),
    ];
    for (kind, old, new, pointer) in refused {
        let told = told(kind, false, &old, &new);
        assert_eq!(told.len(), 1, "{kind:?} {told:?}");
        assert!(told[0].starts_with(&format!("{pointer} ")), "{told:?}");
    }
    let accepted = [
        // A default class was filled in on the cluster, which may be this one.
        (claim, of_spec(json!({})), class("a")),
        (
            claim,
            of_spec(json!({})),
            of_spec(json!({"volumeMode": "Filesystem"})),
        ),
        (("batch", "Job"), job("a", true), job("b", true)),
        (
            ("apps", "Deployment"),
            of_spec(json!({"replicas": 1})),
            of_spec(json!({"replicas": 2})),
        ),
        (
            ("", "ConfigMap"),
            json!({"data": {"a": "b"}}),
            json!({"data": {"a": "c"}}),
        ),
    ];
    for (kind, old, new) in accepted {
        assert_eq!(told(kind, true, &old, &new), Vec::<String>::new(), "{kind:?}");
    }
}

#[test]
fn some_rules_are_for_server_side_apply_only() {
    let (old, new) = (json!({"immutable": true}), json!({}));
    for kind in [("", "ConfigMap"), ("", "Secret")] {
        assert_eq!(told(kind, false, &old, &new), Vec::<String>::new());
        assert_eq!(told(kind, true, &old, &new).len(), 1);
    }
    let types = ["Opaque", "kubernetes.io/tls"]
        .map(|kind| json!({"kind": "Secret", "type": kind, "data": {"a": "b"}}));
    assert_eq!(
        told(("", "Secret"), true, &types[0], &types[1]),
        ["/type "],
        "no value of it is shown"
    );
    assert_eq!(
        told(
            ("", "Secret"),
            true,
            &types[0],
            &json!({"kind": "Secret", "data": {"a": "b"}})
        ),
        Vec::<String>::new()
    );
}

#[test]
fn of_a_mapping_the_fields_are_told_that_the_rule_names_and_long_values_are_cut() {
    let rule = json!({"rule": "self.a == oldSelf.a", "message": "m"});
    let (schema, _) = Schema::from_value(&json!({"x-kubernetes-validations": [rule]}));
    let long = "x".repeat(1000);
    let found = refusals(
        &schema,
        &json!({"a": 1, "b": 1}),
        &json!({"a": long, "b": 2}),
        &Work::default(),
    );
    let [Refusal { changes, .. }] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(changes.len(), 1);
    assert!(
        changes[0].starts_with("a: 1 -> \"xxx") && changes[0].ends_with("xxx...") && changes[0].len() < 100,
        "{changes:?}"
    );
}

/// Ours of a kind say of the same updates that they are refused as its CRD does.
#[cfg(feature = "real-crds")]
#[test]
fn the_rules_of_kinds_with_a_crd_refuse_what_it_refuses() {
    use crate::api::crd::Crd;
    use crate::tests::real_crds;

    let values = |field: &str, some: &[Value]| -> Vec<Option<(String, Value)>> {
        let some = some.iter().map(|value| Some((field.to_owned(), value.clone())));
        some.chain([None]).collect()
    };
    let mut compared = 0;
    for (_, object) in real_crds() {
        let Ok(crd) = Crd::read(&object.value) else {
            continue;
        };
        let own: Vec<&Schema> = rules(&crd.group, &crd.kind, true).collect();
        if own.is_empty() {
            continue;
        }
        let schema = crd.versions[0].schema.as_ref().expect("a schema");
        let mut specs = Vec::new();
        for delegate in values("delegate", &[json!(true), json!(false)]) {
            for owner in values("ownerID", &[json!("123456"), json!("654321")]) {
                for root in values("rootHost", &[json!("a.example.com"), json!("b.example.com")])
                    .into_iter()
                    .flatten()
                {
                    let fields = [delegate.clone(), owner.clone(), Some(root)]
                        .into_iter()
                        .flatten();
                    let spec: kube_json::Map = fields
                        .map(|(name, value)| (kube_json::Text::from(name), value))
                        .collect();
                    specs.push(json!({"spec": spec}));
                }
            }
        }
        let work = Work::unlimited();
        for old in &specs {
            for new in &specs {
                let theirs = !schema.transitions(old, new, &work).is_empty();
                let ours = own.iter().any(|own| !own.transitions(old, new, &work).is_empty());
                assert_eq!(ours, theirs, "{} {old} -> {new}", crd.kind);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 * 18 * 18);
}
