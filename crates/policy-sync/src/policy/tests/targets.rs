//! Which targets a policy may name, and the source of that rule: the definition in the input, the catalog, a
//! controller, documentation.

use kube_json::json;

use crate::hub::Hub;
use crate::policy::{Options, Profiles, learn_targets};
use crate::tests::{SMALL, Seen, color_crd, hub};

/// A policy `infra/p` of a kind.
fn policy(api_version: &str, kind: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: p, namespace: infra}}\nspec: {spec}\n"
    )
}

/// What is reported about a hub, with its definitions.
fn said(hub: &Hub) -> Vec<String> {
    let mut profiles = Profiles::built_in();
    learn_targets(&mut profiles, hub, &mut crate::diagnostic::Findings::new());
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    let seen = Seen::of(hub, &options);
    let about_targets = seen
        .findings
        .iter()
        .filter(|finding| finding.code.group() == "policy");
    about_targets
        .map(|finding| {
            let help = finding.help.as_deref().unwrap_or_default();
            let notes = finding.notes.join("; ");
            format!("{}: {} [{help}] {notes}", finding.code.name(), finding.message)
        })
        .collect()
}

/// The same of one policy on the small hub.
fn of_policy(api_version: &str, kind: &str, spec: &str) -> Vec<String> {
    said(&hub(&(SMALL.to_owned() + &policy(api_version, kind, spec)), &[]))
}

const EG: &str = "gateway.envoyproxy.io/v1alpha1";
const NGINX: &str = "gateway.nginx.org/v1alpha1";
const KGATEWAY: &str = "gateway.kgateway.dev/v1alpha1";
const GKE: &str = "networking.gke.io/v1";

fn target(kind: &str, name: &str) -> String {
    format!("{{group: gateway.networking.k8s.io, kind: {kind}, name: {name}}}")
}

#[test]
fn without_a_definition_the_catalog_says_which_kinds_and_as_of_which_release() {
    let route = target("HTTPRoute", "r1");
    let found = of_policy(
        NGINX,
        "SnippetsPolicy",
        &format!("{{targetRefs: [{route}], snippets: []}}"),
    );
    assert_eq!(
        found,
        [
            "policy/invalid: a SnippetsPolicy cannot target an HTTPRoute [target one of: Gateway] as of NGINX Gateway Fabric \
          v2.6.7; add your own CRD to the input to check against it"
        ]
    );
    let gateway = target("Gateway", "gw");
    assert!(
        of_policy(
            NGINX,
            "SnippetsPolicy",
            &format!("{{targetRefs: [{gateway}], snippets: []}}")
        )
        .is_empty()
    );
    let misspelled = target("GatewaY", "gw");
    let found = of_policy(
        NGINX,
        "SnippetsPolicy",
        &format!("{{targetRefs: [{misspelled}], snippets: []}}"),
    );
    assert!(found[0].contains("[did you mean `Gateway`?]"), "{found:?}");
}

#[test]
fn a_kind_has_the_fields_of_its_definition_and_no_others() {
    let gateway = target("Gateway", "gw");
    let found = of_policy(NGINX, "SnippetsPolicy", &format!("{{targetRef: {gateway}}}"));
    assert_eq!(
        found,
        ["policy/invalid: a SnippetsPolicy has no `targetRef` [use `targetRefs`] "]
    );
    let found = of_policy(EG, "EnvoyPatchPolicy", &format!("{{targetRefs: [{gateway}]}}"));
    assert_eq!(
        found,
        ["policy/invalid: an EnvoyPatchPolicy has no `targetRefs` [use `targetRef`] "]
    );
    let found = of_policy(KGATEWAY, "TrafficPolicy", &format!("{{targetRef: {gateway}}}"));
    assert_eq!(
        found,
        ["policy/invalid: a TrafficPolicy has no `targetRef` [use `targetRefs` or `targetSelectors`] "]
    );
    let section = "{group: gateway.networking.k8s.io, kind: Gateway, name: gw, sectionName: http}";
    let found = of_policy(
        KGATEWAY,
        "HTTPListenerPolicy",
        &format!("{{targetRefs: [{section}]}}"),
    );
    assert_eq!(
        found,
        ["policy/invalid: an HTTPListenerPolicy targets a Gateway only as a whole [remove `sectionName`] "]
    );
    assert!(
        of_policy(
            KGATEWAY,
            "ListenerPolicy",
            &format!("{{targetRefs: [{section}]}}")
        )
        .is_empty()
    );
}

#[test]
fn a_policy_needs_a_target_only_where_its_definition_says_so() {
    assert!(of_policy(KGATEWAY, "TrafficPolicy", "{timeouts: {request: 1s}}").is_empty());
    let found = of_policy(EG, "SecurityPolicy", "{cors: {}}");
    assert_eq!(
        found,
        ["policy/invalid: SecurityPolicy infra/p names no target [add `targetRef`] "]
    );
}

#[test]
fn no_bound_counts_targets_but_that_of_a_definition() {
    let seventeen = vec![target("HTTPRoute", "r1"); 17].join(", ");
    let found = of_policy(
        EG,
        "SecurityPolicy",
        &format!("{{targetRefs: [{seventeen}], cors: {{}}}}"),
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn core_and_no_group_are_one_group() {
    for group in ["core", "\"\""] {
        let service = format!("{{targetRefs: [{{group: {group}, kind: Service, name: s}}], zoneSize: 1m}}");
        let backend = format!("backendRefs: [{{group: {group}, name: s,");
        let text = SMALL.replace("backendRefs: [{name: s,", &backend)
            + &policy(NGINX, "UpstreamSettingsPolicy", &service);
        let hub = hub(&text, &[]);
        assert!(said(&hub).is_empty(), "{group}: {:?}", said(&hub));
        let seen = Seen::hub(&hub);
        let of_service = seen.spec(&["gw", "r2", "s"]);
        assert_eq!(of_service, Some(json!({"zoneSize": "1m"})), "{group}");
    }
}

#[test]
fn what_only_documentation_lists_is_never_refused_and_told_where_the_target_is_missing() {
    let validation = "validation: {hostname: a.example, wellKnownCACertificates: System}";
    let tls = |target: &str| {
        of_policy(
            "gateway.networking.k8s.io/v1",
            "BackendTLSPolicy",
            &format!("{{targetRefs: [{target}], {validation}}}"),
        )
    };
    // It is there, and nobody acts on it.
    let said = tls(&target("HTTPRoute", "r1"));
    let [said] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert!(said.starts_with("policy/no-effect: BackendTLSPolicy "), "{said}");
    assert!(tls("{group: net.gke.io, kind: ServiceImport, name: far}").is_empty());
    assert_eq!(
        tls("{group: \"\", kind: Servce, name: s}"),
        [
            "policy/target-not-found: Servce infra/s is not in the input [did you mean `Service`?] documented targets are: Service; others depend on the controller (kubernetes-sigs/gateway-api apis/v1/backendtlspolicy_types.go@v1.6.1)"
        ]
    );
}

#[test]
fn what_a_controller_refuses_is_said_in_its_words() {
    let route = target("HTTPRoute", "r1");
    let found = of_policy(
        EG,
        "EnvoyPatchPolicy",
        &format!("{{targetRef: {route}, type: JSONPatch}}"),
    );
    assert_eq!(
        found,
        [
            "policy/invalid: an EnvoyPatchPolicy cannot target an HTTPRoute [target one of: Gateway, GatewayClass] its controller \
          would report: TargetRef.Group:gateway.networking.k8s.io TargetRef.Kind:HTTPRoute, only \
          TargetRef.Group:gateway.networking.k8s.io and TargetRef.Kind:Gateway is supported (envoyproxy/gateway \
          internal/gatewayapi/envoypatchpolicy.go@v1.9.0)"
        ]
    );
}

#[test]
fn pods_are_targeted_by_their_labels_and_looked_for_nowhere() {
    let spec = "{targetRefs: [{group: \"\", kind: Pod, selector: {matchLabels: {app: a}}}], enforcementLevel: L7, action: ALLOW}";
    let text = SMALL.to_owned() + &policy(GKE, "GCPAuthzPolicy", spec);
    let hub = hub(&text, &[]);
    assert!(said(&hub).is_empty(), "{:?}", said(&hub));
}

#[test]
fn a_selector_of_a_kind_that_may_not_be_targeted_is_refused_before_it_selects() {
    let spec =
        "{targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {a: b}}]}";
    let found = of_policy(KGATEWAY, "ListenerPolicy", spec);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("policy/invalid: a ListenerPolicy cannot target an HTTPRoute"),
        "{found:?}"
    );
}

#[test]
fn the_page_about_other_products_lists_the_targets_that_their_kinds_take() {
    let page = include_str!("../../../../../docs/systems/other-policies.md");
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .collect();
    let profiles = Profiles::built_in();
    let mut checked = 0;
    for kind in profiles.kinds() {
        if !["gateway.nginx.org", "gateway.kgateway.dev", "networking.gke.io"].contains(&kind.group.as_str())
        {
            continue;
        }
        let versions: Vec<&str> = crate::api::catalog::find(&kind.group, &kind.kind)
            .map(|entry| entry.served_versions().collect())
            .unwrap_or_default();
        let profile = profiles
            .find(kind, &versions.into_iter().collect(), None)
            .expect("built in");
        let names = |first: &str| first.split([',', ' ']).any(|name| name == kind.kind);
        let (_, row) = rows
            .iter()
            .find(|(first, _)| names(first))
            .unwrap_or_else(|| panic!("{kind}"));
        for target in profile.targeting.kind_names() {
            let listed = row.contains(target.trim_start_matches('X')) || row.contains("the same");
            assert!(listed, "{kind}: {target} is not in its row");
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

/// A definition of SecurityPolicy whose rule takes these kinds.
fn definition(kinds: &str, required: &str) -> String {
    let text = "{type: string}";
    let reference = format!(
        "{{type: object, required: [group, kind, name], properties: {{group: {text}, kind: {text}, name: {text}}}}}"
    );
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: securitypolicies.gateway.envoyproxy.io}}\nspec:\n  group: gateway.envoyproxy.io\n  scope: Namespaced\n  \
         names: {{kind: SecurityPolicy, listKind: SecurityPolicyList, plural: securitypolicies, singular: securitypolicy}}\n  \
         versions:\n  - name: v1alpha1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
         properties:\n          spec:\n            type: object\n            {required}\n            properties:\n              \
         cors: {{type: object, x-kubernetes-preserve-unknown-fields: true}}\n              targetRef: {reference}\n            \
         x-kubernetes-validations:\n            - rule: \"!has(self.targetRef) || self.targetRef.kind in [{kinds}]\"\n            \
         - rule: \"has(self.cors)\"\n"
    )
}

#[test]
fn a_definition_of_the_input_counts_before_the_catalog_whether_it_is_newer_or_older() {
    let on = |kinds: &str, kind: &str, name: &str| {
        let spec = format!("{{targetRef: {}, cors: {{}}}}", target(kind, name));
        let text = SMALL.to_owned()
            + &definition(kinds, "required: [targetRef]")
            + &policy(EG, "SecurityPolicy", &spec);
        let mut findings = crate::diagnostic::Findings::new();
        let documents = crate::tests::documents(&[(ocm_hub::source::Room::Hub, &text)]);
        let hub = crate::hub::build(documents, &crate::hub::Options::default(), &mut findings);
        said(&hub)
    };
    // Newer: no release that we know of takes these.
    assert!(
        on("'Gateway', 'Service'", "Service", "s")
            .iter()
            .all(|said| !said.contains("policy/invalid"))
    );
    assert!(
        on("'UDPRoute', 'FooRoute'", "FooRoute", "r1")
            .iter()
            .all(|said| !said.contains("policy/invalid"))
    );
    // Older: it takes no HTTPRoutes yet.
    assert_eq!(
        on("'Gateway'", "HTTPRoute", "r1"),
        ["policy/invalid: a SecurityPolicy cannot target an HTTPRoute [target one of: Gateway] "]
    );
}

#[test]
fn a_target_below_where_the_paths_of_its_kind_end_is_said_not_to_be_evaluated() {
    // Its definition takes Services since 1.10, and its paths end at rules.
    let definition = definition("'HTTPRoute', 'Service'", "required: [targetRef]")
        .replace("SecurityPolicy", "BackendTrafficPolicy")
        .replace("securitypolic", "backendtrafficpolic")
        .replace("cors", "useClientProtocol")
        .replace(
            "{type: object, x-kubernetes-preserve-unknown-fields: true}",
            "{type: boolean}",
        );
    let on = |target: &str| {
        let settings = format!("{{targetRef: {target}, useClientProtocol: true}}");
        let text = SMALL.to_owned() + &definition + &policy(EG, "BackendTrafficPolicy", &settings);
        let mut said = said(&hub(&text, &[]));
        said.retain(|said| said.starts_with("policy/not-evaluated"));
        said
    };
    let service = on("{group: \"\", kind: Service, name: s}");
    let [one] = service.as_slice() else {
        panic!("{service:?}");
    };
    assert!(
        one.starts_with(
            "policy/not-evaluated: BackendTrafficPolicy infra/p targets Service infra/s: its effect there is not \
             evaluated, so the reports about paths to it leave the policy out"
        ),
        "{one}"
    );
    assert!(on(&target("HTTPRoute", "r1")).is_empty());
}

#[test]
fn rules_about_anything_but_targets_do_not_count_when_a_definition_is_asked() {
    // `cors` is missing in what is asked, and its rule refuses that.
    let text = SMALL.to_owned() + &definition("'Gateway'", "") + &policy(EG, "SecurityPolicy", "{cors: {}}");
    assert!(said(&hub(&text, &[])).is_empty());
}

#[cfg(feature = "real-crds")]
mod by_the_projects {
    //! What we know of targets, against the definitions of the projects, rule by rule.

    use std::collections::BTreeSet;

    use kube_json::{Value, json};

    use crate::api::crd;
    use crate::api::targeting::{AcceptedKinds, KNOWN, TargetField, Targeting};
    use crate::policy::profiles::Profiles;
    use crate::policy::targeting::Verdict;
    use crate::policy::targeting::known_targets;
    use crate::tests::{object, real_crds};
    use apimachinery::{GroupKind, Work};

    /// The definitions of the newest releases, by kind and served version, with the spec of the schema.
    fn definitions() -> Vec<(crd::Crd, String, Value)> {
        let older = ["gateway-api-v1.4.1", "gateway-api-v1.5.1"];
        let mut found = Vec::new();
        for (path, object) in real_crds() {
            if path
                .components()
                .any(|part| older.iter().any(|older| part.as_os_str() == *older))
            {
                continue;
            }
            let versions = object.value["spec"]["versions"]
                .as_array()
                .expect("versions")
                .clone();
            for version in versions.iter().filter(|version| version["served"] == true) {
                let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
                let fields = TargetField::ALL.map(TargetField::name);
                if fields.iter().any(|field| spec["properties"][field].is_object()) {
                    let name = version["name"].as_str().expect("a name").to_owned();
                    let crd = crd::read(&object).0.expect("a CRD");
                    found.push((crd, name, spec.clone()));
                }
            }
        }
        assert!(found.len() > 45, "{}", found.len());
        found
    }

    /// Whether the whole definition says anything about the target of this spec.
    fn refuses(crd: &crd::Crd, version: &str, spec: &Value) -> bool {
        let policy = object(json!({
            "apiVersion": format!("{}/{version}", crd.group), "kind": crd.kind,
            "metadata": {"name": "p", "namespace": "a"}, "spec": spec,
        }));
        let schema = crd
            .version(version)
            .and_then(|version| version.schema.as_ref())
            .expect("a schema");
        let violations = schema.validate_part(
            "spec",
            &TargetField::ALL.map(TargetField::name),
            spec,
            &mut Work::unlimited().allowance_of(0),
        );
        // The whole object lacks whatever else its kind needs: no rule runs then. So the structure is asked of it, and
        // the rules of the part.
        let structural = crd::check(crd, &policy, &Work::unlimited());
        let about_target = |finding: &crate::diagnostic::Finding| {
            finding.message.contains("spec.target")
                && !finding.is_rule
                && !finding.message.contains("Required value")
        };
        !violations.is_empty() || structural.iter().any(about_target)
    }

    #[test]
    fn the_targets_of_every_kind_are_those_that_its_own_definition_takes() {
        let profiles = Profiles::built_in();
        for (crd, version, spec) in definitions() {
            let kind = GroupKind::new(crd.group.clone(), crd.kind.clone());
            let Some(profile) = profiles.find(&kind, &BTreeSet::from([version.as_str()]), None) else {
                continue;
            };
            let fields = &profile.targeting.definition.fields;
            for field in TargetField::ALL {
                let theirs = spec["properties"][field.name()].is_object();
                assert_eq!(
                    fields.contains(&field),
                    theirs,
                    "{kind} {version} {}",
                    field.name()
                );
            }
            let single = spec["properties"]["targetRef"].is_object();
            for (group, name) in KNOWN {
                let by = |way: &str, value: Value| {
                    let mut target = json!({"group": group, "kind": name});
                    target[way] = value;
                    if single {
                        json!({"targetRef": target})
                    } else {
                        json!({"targetRefs": [target]})
                    }
                };
                let item = if single {
                    &spec["properties"]["targetRef"]
                } else {
                    &spec["properties"]["targetRefs"]["items"]
                };
                let ways = [
                    ("name", json!("x")),
                    ("selector", json!({"matchLabels": {"a": "b"}})),
                ];
                let ways = ways
                    .into_iter()
                    .filter(|(way, _)| item["properties"][way].is_object());
                let taken = ways
                    .map(|(way, value)| by(way, value))
                    .any(|spec| !refuses(&crd, &version, &spec));
                let ours = profile.targeting.judge(group, name) != Verdict::Refused;
                let by_controller = known_targets(&kind).is_some_and(|known| known.taken(true).is_restricted);
                assert!(
                    ours == taken || (by_controller && taken && !ours),
                    "{kind} {version} on {name}.{group}: theirs {taken}, ours {ours}"
                );
            }
        }
    }

    /// Texts in quotes.
    fn quoted(rule: &str) -> Vec<String> {
        let mut parts = rule.split(['\'', '"']);
        let mut found = Vec::new();
        while let (Some(_), Some(text)) = (parts.next(), parts.next()) {
            found.push(text.to_owned());
        }
        found
    }

    #[test]
    fn every_kind_that_a_rule_about_targets_names_is_asked_for() {
        let known: BTreeSet<&str> = KNOWN.iter().flat_map(|(group, kind)| [*group, *kind]).collect();
        // No kinds: a suffix, what NGINX calls the core group, words of messages in rules.
        let others = ["ListenerSet", "core", ""];
        let mut asked = 0;
        for (crd, version, spec) in definitions() {
            let mut rules: Vec<&Value> = Vec::new();
            for field in TargetField::ALL {
                let field = &spec["properties"][field.name()];
                for level in [field, &field["items"]] {
                    rules.extend(level["x-kubernetes-validations"].as_array().into_iter().flatten());
                }
            }
            let of_spec = spec["x-kubernetes-validations"].as_array().into_iter().flatten();
            rules.extend(of_spec.filter(|rule| {
                let text = rule["rule"].as_str().unwrap_or_default();
                text.contains("targetRef") && text.contains(".kind")
            }));
            for rule in rules {
                for text in quoted(rule["rule"].as_str().expect("a rule")) {
                    let is_kind =
                        text.starts_with(char::is_uppercase) && !text.contains('_') || text.contains('.');
                    asked += usize::from(is_kind);
                    assert!(
                        !is_kind || known.contains(text.as_str()) || others.contains(&text.as_str()),
                        "{} {version}: {text} is not asked for",
                        crd.kind
                    );
                }
            }
        }
        assert!(asked > 50, "{asked}");
    }

    #[test]
    fn nothing_is_told_of_targets_that_a_definition_says_itself() {
        for (crd, version, _) in definitions() {
            let kind = GroupKind::new(crd.group.clone(), crd.kind.clone());
            let schema = crd
                .version(&version)
                .and_then(|version| version.schema.as_ref())
                .expect("a schema");
            let targeting =
                Targeting::from_schema(schema, &BTreeSet::new(), &Work::unlimited()).expect("targets");
            let AcceptedKinds { is_restricted, .. } = targeting.named;
            assert!(
                known_targets(&kind).is_none() || !is_restricted,
                "{kind}: its definition restricts targets, so the row in `KNOWN_TARGETS` says nothing"
            );
        }
    }
}

#[test]
fn a_refused_target_gets_the_nearest_group_if_its_kind_is_right() {
    let of = |group: &str| {
        let gateway = format!("{{group: {group}, kind: Gateway, name: gw}}");
        of_policy(
            NGINX,
            "SnippetsPolicy",
            &format!("{{targetRefs: [{gateway}], snippets: []}}"),
        )
    };
    let near = of("gateway.networking.k8s.oi");
    assert!(
        near[0].contains("[did you mean `gateway.networking.k8s.io`?]"),
        "{near:?}"
    );
    let far = of("example.com");
    assert!(
        far[0].contains("[target one of: Gateway]"),
        "never the kind that it has: {far:?}"
    );
}

#[test]
fn a_target_that_is_taken_as_a_whole_is_taken_without_a_section() {
    let gateway = target("Gateway", "gw");
    let spec = format!("{{targetRefs: [{gateway}]}}");
    assert!(of_policy(KGATEWAY, "HTTPListenerPolicy", &spec).is_empty());
}

#[test]
fn a_section_that_does_not_exist_has_the_name_of_its_kind_of_section() {
    for (kind, name, word) in [
        ("Gateway", "gw", "listener"),
        ("HTTPRoute", "r1", "rule"),
        ("Service", "s", "port"),
    ] {
        let group = if kind == "Service" {
            "''"
        } else {
            "gateway.networking.k8s.io"
        };
        let spec =
            format!("{{targetRefs: [{{group: {group}, kind: {kind}, name: {name}, sectionName: nope}}]}}");
        let text = SMALL.to_owned()
            + &color_crd("Inherited")
            + &policy("colors.example.com/v1", "ColorPolicy", &spec);
        let found = said(&hub(&text, &[]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(word), "{found:?}");
    }
}

#[test]
fn a_policy_may_target_its_own_namespace_and_no_other() {
    let of = |name: &str| {
        let spec = format!("{{targetRefs: [{{group: '', kind: Namespace, name: {name}}}], color: red}}");
        let text = SMALL.to_owned()
            + &color_crd("Inherited")
            + &policy("colors.example.com/v1", "ColorPolicy", &spec);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let declared = &seen.attachments.policies.rows()[0].targets[0];
        (seen.said(), declared.unattached("infra"))
    };
    let (said, _) = of("infra");
    assert!(said.is_empty(), "{said:?}");
    let (said, unattached) = of("shop");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        unattached.ends_with("(not permitted by a ReferenceGrant)"),
        "{unattached}"
    );
}

const GATEWAY_API: &str = "gateway.networking.k8s.io";

#[test]
fn a_target_that_is_nowhere_is_named_with_its_group_and_the_reason() {
    let unattached = |group: &str, kind: &str, name: &str| {
        let spec = format!("{{targetRefs: [{{group: '{group}', kind: {kind}, name: {name}}}], color: red}}");
        let text = SMALL.to_owned()
            + &color_crd("Inherited")
            + &policy("colors.example.com/v1", "ColorPolicy", &spec);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        seen.attachments.policies.rows()[0].targets[0].unattached("infra")
    };
    for (group, kind, name, expected) in [
        (
            GATEWAY_API,
            "HTTPRoute",
            "gone",
            "HTTPRoute.gateway.networking.k8s.io infra/gone (not in the input)",
        ),
        (
            GATEWAY_API,
            "GatewayClass",
            "gone",
            "GatewayClass.gateway.networking.k8s.io gone (not in the input)",
        ),
        ("", "Service", "gone", "Service infra/gone (not in the input)"),
    ] {
        assert_eq!(unattached(group, kind, name), expected);
    }
}

#[test]
fn a_status_lists_as_many_ancestors_as_gateway_api_permits() {
    let said = |number: usize| {
        let mut text = SMALL.to_owned() + &color_crd("Inherited");
        let mut targets = Vec::new();
        for at in 0..number {
            text += &format!(
                "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: g{at}, namespace: infra}}\n\
                 spec: {{gatewayClassName: gc, listeners: [{{name: http, port: 80, protocol: HTTP}}]}}\n"
            );
            targets.push(target("Gateway", &format!("g{at}")));
        }
        let spec = format!("{{targetRefs: [{}], color: red}}", targets.join(", "));
        let found = said(&hub(
            &(text + &policy("colors.example.com/v1", "ColorPolicy", &spec)),
            &[],
        ));
        found
            .iter()
            .filter(|one| one.starts_with("policy/too-many-ancestors"))
            .count()
    };
    assert_eq!((said(16), said(17)), (0, 1));
}
