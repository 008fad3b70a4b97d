//! Which policies are not shipped, and why.

use super::super::{Received, received};
use super::{
    FOREIGN, GW, LIMIT, SET, asking_for_traffic, policy, said, said_with_help, shipping, shipping_routes,
    traffic, with_sets,
};
use crate::diagnostic::{Code, Finding, Findings, Severity};
use crate::sync::{leave_others_alone, report_not_synced, report_unused};
use crate::tests::{color, color_crd, hub, limit, small_with_params};

fn not_synced(received: &Received<'_>, findings: &mut Findings) {
    report_not_synced(received.syncing, findings);
}

fn unused(received: &Received<'_>, findings: &mut Findings) {
    report_unused(received.syncing, findings);
}

#[test]
fn a_policy_whose_kind_the_class_of_its_gateway_does_not_ask_for_is_not_synced() {
    let said = |text: &str| said_with_help(text, &[], &["c1"], not_synced);
    let missing = [[
        "policy/not-synced AuthPolicy infra/a is not synced: its kind is not in the parameters of its class".to_owned(),
        "add {\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"authpolicies\"} to `policiesToSync` of `gc`"
            .to_owned(),
    ]];
    let base = small_with_params();
    let auth = policy("AuthPolicy", GW, ", rules: {}");
    assert_eq!(said(&(base.clone() + &auth)), missing);
    assert_eq!(
        said(&(base.clone() + &auth.replace("io/v1", "io/v9"))),
        missing,
        "in a version that is served"
    );
    assert!(
        said(&(base.clone() + &limit("l", GW, LIMIT))).is_empty(),
        "it is synced"
    );
    let on_route = policy("AuthPolicy", "kind: HTTPRoute, name: r1", ", rules: {}");
    assert_eq!(
        said(&(shipping_routes(&base) + &on_route)),
        missing,
        "on a route that is shipped"
    );
    let on_set = with_sets(&shipping(&base, "gateway.networking.k8s.io", "listenersets", ""))
        + SET
        + &traffic("kind: ListenerSet, name: ls");
    let [[message, _]] = &*said(&on_set) else {
        panic!("{:?}", said(&on_set))
    };
    assert!(
        message.contains("BackendTrafficPolicy infra/b is not synced: its kind"),
        "on a ListenerSet that is shipped: {message}"
    );
}

#[test]
fn a_policy_whose_target_stays_on_the_hub_is_not_shipped() {
    let said = |text: &str| said_with_help(text, &[], &["c1"], not_synced);
    let stays = |policy: &str, way_out: &'static str| {
        let message =
            format!("policy/not-synced {policy} is not shipped: its target is not synced to the spokes");
        move |said: &[[String; 2]]| matches!(said, [[said, help]] if *said == message && help.starts_with(way_out))
    };
    let base = small_with_params();
    let route = stays(
        "RateLimitPolicy infra/l",
        "add {\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \"httproutes\"} to `resourcesToSync` of `gc`, target",
    );
    let mesh_alone = stays(
        "RateLimitPolicy infra/l",
        "target the Gateway or one of its listeners",
    );
    let on = |route: &str| limit("l", &format!("kind: HTTPRoute, name: {route}"), LIMIT);
    assert!(route(&said(&(base.clone() + &on("r1")))));
    assert!(
        said(&(shipping_routes(&base) + &on("r1"))).is_empty(),
        "the route is shipped"
    );
    let mesh = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: m, namespace: infra}\n\
                spec: {parentRefs: [{group: '', kind: Service, name: s, port: 80}], rules: [{backendRefs: [{name: s, port: 80}]}]}\n";
    assert!(
        mesh_alone(&said(&(base.clone() + mesh + &on("m")))),
        "only a mesh leads to it"
    );
    let set = stays(
        "BackendTrafficPolicy infra/b",
        "add {\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \"listenersets\"} to `resourcesToSync` of `gc`, target",
    );
    let hub = with_sets(&asking_for_traffic()) + SET;
    for target in [
        "kind: ListenerSet, name: ls",
        "kind: ListenerSet, name: ls, sectionName: extra",
    ] {
        assert!(set(&said(&(hub.clone() + &traffic(target)))), "{target}");
    }
    let shipped = shipping(&hub, "gateway.networking.k8s.io", "listenersets", "");
    assert!(said(&(shipped + &traffic("kind: ListenerSet, name: ls"))).is_empty());
    let loose = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: m, namespace: infra}\n\
                 spec: {parentRefs: [{name: gone}]}\n";
    let [[message, _]] = &*said(&(base + loose + &on("m"))) else {
        panic!("one finding")
    };
    assert_eq!(
        message,
        "policy/unreachable RateLimitPolicy infra/l targets HTTPRoute infra/m, which no Gateway of the input leads to"
    );
}

#[test]
fn all_that_keeps_a_policy_at_home_is_said_at_once() {
    let auth = policy("AuthPolicy", "kind: HTTPRoute, name: r1", ", rules: {}");
    let said = said_with_help(&(small_with_params() + &auth), &[], &["c1"], not_synced);
    assert_eq!(
        said,
        [[
            "policy/not-synced AuthPolicy infra/a is not shipped: its kind is not in the parameters of its class, and its target is not synced to the spokes",
            "add {\"group\": \"kuadrant.io\", \"version\": \"v1\", \"resource\": \"authpolicies\"} to `policiesToSync` of `gc`, \
             and add {\"group\": \"gateway.networking.k8s.io\", \"version\": \"v1\", \"resource\": \"httproutes\"} to `resourcesToSync` of `gc`"
        ]]
    );
}

#[test]
fn a_policy_on_a_service_goes_where_a_route_to_the_service_is_and_one_on_a_namespace_where_its_objects_are() {
    let text = |policies: &str| {
        small_with_params().replace(
            "{group: kuadrant.io, version: v1, resource: ratelimitpolicies}",
            "{group: gateway.networking.k8s.io, version: v1, resource: backendtlspolicies}, {group: colors.example.com, version: v1, resource: colorpolicies}",
        ) + &color_crd("Inherited").replace(
            "openAPIV3Schema: {type: object, ",
            "openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true, \
             properties: {targetRefs: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}, ",
        ) + policies
    };
    let tls = |service: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {{name: t, namespace: infra}}\n\
             spec: {{targetRefs: [{{group: '', kind: Service, name: {service}}}], validation: {{hostname: a.example, wellKnownCACertificates: System}}}}\n"
        )
    };
    let on_namespace = color("p", "group: '', kind: Namespace, name: infra", "x: 1");
    // `namespace/name -> name of the target` of the copies.
    let copies = |text: &str| {
        let hub = hub(text, &[]);
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let mut findings = Findings::new();
            not_synced(received, &mut findings);
            assert_eq!(findings.iter().count(), 0, "{findings:?}");
            let copies = received
                .making
                .variants
                .iter()
                .flatten()
                .flat_map(|variant| &variant.copies);
            let copies = copies.filter_map(|copy| {
                let spec = &copy.object.value["spec"];
                let target = spec
                    .pointer("/targetRefs/0/name")
                    .or(spec.pointer("/targetRef/name"))?;
                Some(format!("{} -> {}", copy.object.key(), target.as_str()?))
            });
            copies.collect::<Vec<_>>()
        })
    };
    assert_eq!(
        copies(&text(&tls("s"))),
        ["infra/t -> s"],
        "another tool brings the route"
    );
    assert_eq!(copies(&shipping_routes(&text(&tls("s")))), ["infra/t -> s"]);
    assert_eq!(
        copies(&text(&on_namespace)),
        ["kuadrant-infra/p -> kuadrant-infra"],
        "the Gateway alone is shipped"
    );
    assert_eq!(
        copies(&shipping_routes(&text(&on_namespace))),
        ["infra/p -> infra", "kuadrant-infra/p -> kuadrant-infra"]
    );
}

#[test]
fn the_version_to_ask_for_is_that_of_the_policy_if_it_is_served_or_else_the_first() {
    let version = |name: &str, storage: bool| {
        format!(
            "{{name: {name}, served: true, storage: {storage}, \
             schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}"
        )
    };
    let crd = color_crd("Inherited");
    let (before, _) = crd.split_once("versions: [").unwrap();
    let crd = format!(
        "{before}versions: [{}, {}]}}\n",
        version("v1", true),
        version("v2", false)
    );
    let help = |version: &str| {
        let policy = color("p", &format!("group: gateway.networking.k8s.io, {GW}"), "x: 1");
        let policy = policy.replace("example.com/v1", &format!("example.com/{version}"));
        let text = small_with_params() + &crd + &policy;
        let said = said_with_help(&text, &[], &["c1"], not_synced);
        said.into_iter().map(|[_, help]| help).collect::<String>()
    };
    for version in ["v1", "v2"] {
        let help = help(version);
        assert!(help.contains(&format!("\"version\": \"{version}\"")), "{help}");
    }
}

#[test]
fn a_mistake_in_a_policy_on_gateways_of_other_classes_stops_no_run() {
    let class = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: theirs}\n\
                 spec: {controllerName: example.com/other}\n";
    let text = small_with_params()
        + FOREIGN
        + class
        + &limit("ours", GW, LIMIT)
        + &limit("theirs", "kind: Gateway, name: foreign", LIMIT);
    let hub = hub(&text, &[]);
    received(&hub, &[("infra/gw", &["c1"])], |received| {
        let place = |name: &str| {
            let policies = received.attachments.policies.rows();
            let policy = policies.iter().find(|policy| policy.object.name == name).unwrap();
            policy.object.place("/spec/limits")
        };
        let mut found = Findings::new();
        for name in ["ours", "theirs"] {
            found.push(Finding::new(Code::POLICY_INVALID, place(name), name));
        }
        let left = leave_others_alone(received.syncing, found);
        let told: Vec<_> = left
            .iter()
            .map(|finding| (finding.message.clone(), finding.severity, finding.notes.len()))
            .collect();
        assert_eq!(
            told,
            [
                ("ours".into(), Severity::Error, 0),
                ("theirs".into(), Severity::Warning, 1)
            ]
        );
    });
}

#[test]
fn a_policy_on_gateways_of_other_classes_alone_is_not_shipped() {
    let said = |text: &str| said(text, &["c1"], not_synced);
    let base = small_with_params() + FOREIGN;
    let on = |target: &str| limit("l", target, LIMIT);
    assert_eq!(
        said(&(base.clone() + &on("kind: Gateway, name: foreign"))),
        [
            "policy/other-class RateLimitPolicy infra/l targets Gateway infra/foreign, which is not rendered, so it is not shipped"
        ]
    );
    assert_eq!(
        said(&(base.clone() + &on("kind: HTTPRoute, name: away"))),
        [
            "policy/other-class RateLimitPolicy infra/l targets HTTPRoute infra/away, to which no Gateway of ours leads, so it is not shipped"
        ]
    );
    let broken = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: theirs}\n\
                  spec: {controllerName: kuadrant.io/mgc-gw-controller, \
                  parametersRef: {group: '', kind: ConfigMap, name: nothing, namespace: infra}}\n";
    assert!(
        said(&(base.clone() + broken + &on("kind: Gateway, name: foreign"))).is_empty(),
        "that its class is broken is a finding of its own"
    );
    let auth = policy("AuthPolicy", "kind: Gateway, name: foreign", ", rules: {}");
    assert!(
        said(&(base.clone() + &auth)).is_empty(),
        "no class asks for its kind"
    );
    let both = base.replace(
        "parentRefs: [{name: foreign}]",
        "parentRefs: [{name: foreign}, {name: gw}]",
    );
    assert_eq!(
        said(&(both + &on("kind: HTTPRoute, name: away"))),
        ["policy/not-synced RateLimitPolicy infra/l is not shipped: its target is not synced to the spokes"],
        "one of ours leads to it, too"
    );
    let nameless = base.replace("gatewayClassName: theirs", "gatewayClassName: \"\"");
    assert!(
        said(&(nameless + &on("kind: Gateway, name: foreign"))).is_empty(),
        "that is a finding of its own"
    );
}

#[test]
fn a_synced_policy_of_a_gateway_that_no_cluster_receives_is_unused() {
    let base = small_with_params() + FOREIGN;
    let of = |text: &str, clusters: &[&str]| said(text, clusters, unused);
    let text = base.clone() + &limit("l", GW, LIMIT);
    assert_eq!(
        of(&text, &[]),
        ["policy/unused RateLimitPolicy infra/l affects no cluster: its targets are not placed"]
    );
    assert!(of(&text, &["c1"]).is_empty());
    let elsewhere = base.clone() + &limit("l", "kind: Gateway, name: foreign", LIMIT);
    assert!(of(&elsewhere, &[]).is_empty(), "it reaches no Gateway of ours");
    let unsynced = base + &policy("AuthPolicy", GW, ", rules: {}");
    assert!(of(&unsynced, &[]).is_empty(), "it is not shipped in any case");
}

#[test]
fn whether_a_policy_goes_to_clusters_is_decided_by_its_target() {
    let synced = |text: &str| {
        let hub = hub(text, &[]);
        received(&hub, &[("infra/gw", &["c1"])], |received| {
            let kind = received.attachments.policies.rows()[0].kind;
            let node = received.attachments.policies.rows()[0]
                .nodes()
                .into_iter()
                .next()
                .unwrap();
            received.syncing.is_synced(kind, node)
        })
    };
    let base = small_with_params();
    let on_route = limit("l", "kind: HTTPRoute, name: r1", LIMIT);
    assert!(synced(&(base.clone() + &limit("l", GW, LIMIT))));
    assert!(!synced(&(base.clone() + &on_route)), "the route stays");
    assert!(synced(&(shipping_routes(&base) + &on_route)));
    let sets = with_sets(&asking_for_traffic()) + SET + &traffic("kind: ListenerSet, name: ls");
    assert!(!synced(&sets), "the ListenerSet stays");
    assert!(synced(&shipping(
        &sets,
        "gateway.networking.k8s.io",
        "listenersets",
        ""
    )));
}
