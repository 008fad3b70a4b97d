//! Which policies merge, and the result (docs/systems/envoy-gateway.md#merge-types).

use kube_json::{Map, Value, json};
use proptest::prelude::*;

use super::{BOTH, FIRST, GW, HTTP, HTTPS, ON_SET, ONE, PLAIN, SET, TOPOLOGY, of_kind, spec, traffic, with};
use crate::api::targeting::TargetField;
use crate::outcome::PolicyEntry;
use crate::tests::{Seen, hub};

#[test]
fn a_route_merges_with_the_policy_of_its_listener_or_else_with_that_of_the_gateway() {
    let text = with(&[
        traffic("g", GW, "timeout: {tcp: {connectTimeout: 1s}}, telemetry: {g: 1}"),
        traffic("h", HTTP, "timeout: {tcp: {connectTimeout: 2s}}"),
        traffic("r", BOTH, "mergeType: JSONMerge, retry: {numRetries: 3}"),
    ]);
    assert_eq!(
        spec(&text, &["gw", "gw#http", "both", "both#only"]),
        Some(json!({"timeout": {"tcp": {"connectTimeout": "2s"}}, "retry": {"numRetries": 3}})),
        "the Gateway's is not merged, too"
    );
    assert_eq!(
        spec(&text, &["gw", "gw#https", "both", "both#only"]),
        Some(
            json!({"timeout": {"tcp": {"connectTimeout": "1s"}}, "telemetry": {"g": 1}, "retry": {"numRetries": 3}})
        )
    );
}

#[test]
fn a_route_on_a_listener_set_never_merges_with_a_listener_of_the_gateway() {
    let policies = [
        traffic("g", GW, "retry: {numRetries: 1}"),
        traffic("h", HTTP, "retry: {numRetries: 2}"),
        traffic("r", ON_SET, "mergeType: JSONMerge, useClientProtocol: true"),
        traffic("s", SET, "retry: {numRetries: 3}"),
        traffic("o", ONE, "retry: {numRetries: 4}"),
    ];
    let retries = |policies: &[String], listener: &str| {
        let found = spec(&with(policies), &["gw", listener, "on-set", "on-set#only"]).unwrap();
        assert_eq!(found["useClientProtocol"], json!(true));
        found["retry"]["numRetries"].clone()
    };
    assert_eq!(retries(&policies, "set#one"), 4);
    assert_eq!(retries(&policies, "set#two"), 3);
    assert_eq!(retries(&policies[..4], "set#one"), 3);
    assert_eq!(
        retries(&policies[..3], "set#one"),
        1,
        "not that of a Gateway's listener"
    );
}

#[test]
fn a_rules_policy_merges_past_the_one_of_its_route_and_without_a_merge_type_nothing_comes_back() {
    let policies = |merge: &str| {
        with(&[
            traffic("g", GW, "retry: {numRetries: 1}"),
            traffic(
                "r",
                PLAIN,
                "mergeType: StrategicMerge, timeout: {tcp: {connectTimeout: 2s}}",
            ),
            traffic("f", FIRST, &format!("{merge}useClientProtocol: true")),
        ])
    };
    let first = ["gw", "plain", "plain#first"];
    assert_eq!(
        spec(&policies("mergeType: StrategicMerge, "), &first),
        Some(json!({"retry": {"numRetries": 1}, "useClientProtocol": true}))
    );
    assert_eq!(
        spec(&policies(""), &first),
        Some(json!({"useClientProtocol": true}))
    );
    assert_eq!(
        spec(&policies(""), &["gw", "plain", "plain#second"]),
        Some(json!({"retry": {"numRetries": 1}, "timeout": {"tcp": {"connectTimeout": "2s"}}}))
    );
}

#[test]
fn an_empty_policy_replaces_and_one_that_only_asks_for_a_merge_does_not() {
    for (settings, expected) in [
        ("", json!({})),
        ("mergeType: JSONMerge", json!({"retry": {"numRetries": 1}})),
    ] {
        let text = with(&[
            traffic("g", GW, "retry: {numRetries: 1}"),
            traffic("r", PLAIN, settings),
        ]);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        assert_eq!(
            seen.spec(&["gw", "plain", "plain#first"]),
            Some(expected),
            "{settings}"
        );
        assert_eq!(
            seen.spec(&["gw", "both", "both#only"]),
            Some(json!({"retry": {"numRetries": 1}}))
        );
        assert!(seen.said().is_empty(), "{:?}", seen.said());
    }
}

#[test]
fn lists_with_a_key_merge_by_it_and_others_are_replaced() {
    let gateway = "httpUpgrade: [{type: websocket, connect: {terminate: true}}, {type: a}], retry: {retryOn: {triggers: [x, y]}}";
    let route = "httpUpgrade: [{type: b}, {type: websocket, note: here}], retry: {retryOn: {triggers: [z]}}";
    let found = |merge: &str| {
        let settings = format!("mergeType: {merge}, {route}");
        let text = with(&[traffic("g", GW, gateway), traffic("r", PLAIN, &settings)]);
        spec(&text, &["gw", "plain", "plain#first"]).unwrap()
    };
    let merged = found("StrategicMerge");
    assert_eq!(
        merged["httpUpgrade"],
        json!([{"type": "b"}, {"type": "websocket", "note": "here", "connect": {"terminate": true}}, {"type": "a"}])
    );
    assert_eq!(merged["retry"]["retryOn"]["triggers"], json!(["z"]));
    assert_eq!(
        found("JSONMerge")["httpUpgrade"],
        json!([{"type": "b"}, {"type": "websocket", "note": "here"}])
    );
}

#[test]
fn an_element_that_stands_before_a_common_one_stays_before_it() {
    let list = |types: &[&str]| {
        let items: Vec<String> = types.iter().map(|item| format!("{{type: {item}}}")).collect();
        format!("httpUpgrade: [{}]", items.join(", "))
    };
    for (gateway, route, expected) in [
        (&["a"][..], &["b"][..], &["b", "a"][..]),
        (&["a", "b"], &["b", "c"], &["a", "b", "c"]),
        (&["a", "b"], &["c", "b"], &["c", "a", "b"]),
        (&["b", "a"], &["c", "b"], &["c", "b", "a"]),
    ] {
        let route = format!("mergeType: StrategicMerge, {}", list(route));
        let text = with(&[traffic("g", GW, &list(gateway)), traffic("r", PLAIN, &route)]);
        let found = spec(&text, &["gw", "plain", "plain#first"]).unwrap();
        let types: Vec<&str> = found["httpUpgrade"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["type"].as_str().unwrap())
            .collect();
        assert_eq!(types, expected);
    }
}

#[test]
fn rules_of_rate_limits_add_up_where_the_merge_is_strategic() {
    let limit = |requests: u8| {
        format!(
            "rateLimit: {{type: Global, global: {{rules: [{{limit: {{requests: {requests}, unit: Hour}}}}]}}}}"
        )
    };
    let found = |merge: &str| {
        let text = with(&[
            traffic("g", GW, &limit(1)),
            traffic("r", PLAIN, &format!("mergeType: {merge}, {}", limit(2))),
        ]);
        let spec = spec(&text, &["gw", "plain", "plain#first"]).unwrap();
        let rules = spec["rateLimit"]["global"]["rules"].as_array().unwrap().clone();
        rules
            .iter()
            .map(|rule| rule["limit"]["requests"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("StrategicMerge"), [2, 1]);
    assert_eq!(found("JSONMerge"), [2]);
}

#[test]
fn the_default_of_a_local_rate_limit_is_replaced_by_the_more_specific_one() {
    let local = |rules: &str| format!("rateLimit: {{local: {{rules: [{rules}]}}}}");
    let rule = |selector: &str, requests: u8| {
        let selectors = match selector {
            "" => String::new(),
            path => format!("clientSelectors: [{{path: {{value: {path}}}}}], "),
        };
        format!("{{{selectors}limit: {{requests: {requests}, unit: Second}}}}")
    };
    let text = with(&[
        traffic("g", GW, &local(&[rule("", 1), rule("/a", 2)].join(", "))),
        traffic(
            "r",
            PLAIN,
            &format!(
                "mergeType: StrategicMerge, {}",
                local(&[rule("", 3), rule("/a", 4)].join(", "))
            ),
        ),
    ]);
    let spec = spec(&text, &["gw", "plain", "plain#first"]).unwrap();
    let rules = spec["rateLimit"]["local"]["rules"].as_array().unwrap();
    let requests: Vec<_> = rules
        .iter()
        .map(|rule| rule["limit"]["requests"].as_i64())
        .collect();
    assert_eq!(requests, [3, 4, 2].map(Some));
}

#[test]
fn an_empty_list_leaves_the_one_above_alone() {
    let text = with(&[
        traffic("g", GW, "compressor: [{type: Gzip, gzip: {}}]"),
        traffic("r", PLAIN, "mergeType: JSONMerge, compressor: []"),
    ]);
    assert_eq!(
        spec(&text, &["gw", "plain", "plain#first"]),
        Some(json!({"compressor": [{"type": "Gzip", "gzip": {}}]}))
    );
}

#[test]
fn a_compressor_without_the_settings_of_its_type_is_left_out_and_without_any_compression_is_off() {
    let found = |gateway: &str, route: &str| {
        let text = with(&[traffic("g", GW, gateway), traffic("r", PLAIN, route)]);
        spec(&text, &["gw", "plain", "plain#first"]).unwrap()
    };
    let both = "compressor: [{type: Gzip, gzip: {}}, {type: Brotli, brotli: {}}]";
    let gzip = json!({"type": "Gzip", "gzip": {}});
    assert_eq!(
        found(both, "compressor: [{type: Gzip}]"),
        json!({"compressor": []})
    );
    assert_eq!(
        found(
            both,
            "compressor: [{type: Zstd, gzip: {}}, {type: Gzip, gzip: {}}]"
        ),
        json!({"compressor": [gzip]})
    );
    assert_eq!(
        found(
            both,
            "mergeType: JSONMerge, compressor: [{type: Gzip}, {type: Zstd}]"
        ),
        json!({"compressor": []})
    );
    // An element that is merged by its type has the settings of both.
    assert_eq!(
        found(
            "compressor: [{type: Gzip, gzip: {}}]",
            "mergeType: StrategicMerge, compressor: [{type: Zstd}, {type: Gzip}]"
        ),
        json!({"compressor": [gzip]})
    );
    assert_eq!(
        found(
            "compressor: [{type: Gzip}]",
            "mergeType: StrategicMerge, compressor: [{type: Zstd}]"
        ),
        json!({"compressor": []})
    );
    // The older list has no settings that could be missing.
    let older = json!({"compression": [{"type": "Gzip"}]});
    assert_eq!(found(both, "compression: [{type: Gzip}]"), older);
}

#[test]
fn a_policy_is_refused_for_what_it_comes_to_by_a_merge_and_not_for_what_it_replaces() {
    let limit = |default: &str, pattern: &str| {
        format!(
            "rateLimit: {{local: {{rules: [{{limit: {{requests: 9, unit: {default}}}}}, {{clientSelectors: [{{headers: \
             [{{name: a, type: RegularExpression, value: \"{pattern}\"}}]}}], limit: {{requests: 1, unit: Hour}}}}]}}}}"
        )
    };
    let found = |gateway: &str, route: &str| {
        let route = format!("mergeType: StrategicMerge, useClientProtocol: true{route}");
        let text = with(&[traffic("g", GW, gateway), traffic("r", PLAIN, &route)]);
        spec(&text, &["gw", "plain", "plain#first"]).unwrap()
    };
    for wrong in [limit("Day", "a"), limit("Hour", "a[")] {
        assert_eq!(found(&wrong, ""), json!({}));
        let replaced = found(&wrong, &format!(", {}", limit("Minute", "b")));
        assert_eq!(replaced["useClientProtocol"], json!(true), "{replaced}");
        // As the lists are not put together before they are checked, neither are the defaults of both.
        let right = found(&limit("Second", "c"), &format!(", {}", limit("Hour", "b")));
        assert_eq!(right["useClientProtocol"], json!(true), "{right}");
    }
    let waits = |most: &str| format!("retry: {{perRetry: {{backOff: {{{most}}}}}}}");
    assert_eq!(
        found(
            &waits("baseInterval: 2s"),
            &format!(", {}", waits("maxInterval: 1s"))
        ),
        json!({})
    );
}

#[test]
fn elements_of_a_merged_list_say_where_they_come_from() {
    let text = with(&[
        traffic(
            "g",
            GW,
            "httpUpgrade: [{type: websocket, connect: {terminate: true}}, {type: a}]",
        ),
        traffic(
            "r",
            PLAIN,
            "mergeType: StrategicMerge, httpUpgrade: [{type: b}, {type: websocket}]",
        ),
    ]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let report = seen.report();
    let entry = report.effective.iter().find(|entry| {
        entry
            .path
            .last()
            .is_some_and(|last| last.ends_with("plain#first"))
    });
    let sources: Vec<(String, &str)> = entry
        .unwrap()
        .result
        .sources
        .iter()
        .map(|(pointer, policy)| (pointer.clone(), policy.rsplit('/').next().unwrap()))
        .collect();
    let expected = [
        ("/httpUpgrade/0/type", "r"),
        ("/httpUpgrade/1/connect/terminate", "g"),
        ("/httpUpgrade/1/type", "r"),
        ("/httpUpgrade/2/type", "g"),
    ];
    let expected: Vec<(String, &str)> = expected
        .map(|(pointer, policy)| (pointer.to_owned(), policy))
        .to_vec();
    assert_eq!(sources, expected);
    let written: Vec<String> = seen
        .effective
        .iter()
        .filter(|(_, path)| path.effective.content.len() == 4)
        .flat_map(|(_, path)| {
            path.effective
                .content
                .values()
                .map(crate::policy::Leaf::source_pointer)
        })
        .take(4)
        .collect();
    assert_eq!(
        written,
        [
            "/spec/httpUpgrade/0/type",
            "/spec/httpUpgrade/0/connect/terminate",
            "/spec/httpUpgrade/1/type",
            "/spec/httpUpgrade/1/type",
        ]
    );
    let g = seen.id("BackendTrafficPolicy infra/g");
    let entry = seen.view(|view| PolicyEntry::of_hub(view, g));
    assert!(
        !entry
            .conditions
            .iter()
            .any(|condition| condition.message.to_string().contains("infra/r")),
        "nothing of it is lost: {:?}",
        entry.conditions
    );
}

#[test]
fn client_traffic_goes_by_listener_then_set_then_gateway_as_a_whole() {
    let client = |name: &str, target: &str, probes: u8| {
        of_kind(
            "ClientTrafficPolicy",
            name,
            target,
            &format!("tcpKeepalive: {{probes: {probes}}}"),
        )
    };
    let text = with(&[
        client("g", GW, 1),
        client("h", HTTP, 2),
        client("s", SET, 3),
        client("o", ONE, 4),
    ]);
    for (listener, probes) in [("gw#http", 2), ("gw#https", 1), ("set#one", 4), ("set#two", 3)] {
        assert_eq!(
            spec(&text, &["gw", listener]),
            Some(json!({"tcpKeepalive": {"probes": probes}})),
            "{listener}"
        );
    }
}

#[test]
fn a_merge_type_is_one_of_two_words() {
    for (kind, word, refused) in [
        ("BackendTrafficPolicy", "Replace", true),
        ("SecurityPolicy", "jsonmerge", true),
        ("EnvoyExtensionPolicy", "StrategicMerge", false),
        ("SecurityPolicy", "JSONMerge", false),
    ] {
        let hub = hub(
            &with(&[of_kind(kind, "p", PLAIN, &format!("mergeType: {word}"))]),
            &[],
        );
        let seen = Seen::hub(&hub);
        let said = seen.said();
        if refused {
            assert_eq!(
                said,
                [format!(
                    "policy/invalid `{word}` is not a merge strategy of {kind}"
                )]
            );
            let finding = seen.findings.iter().next().unwrap();
            assert_eq!(
                finding.help.as_deref(),
                Some("write `StrategicMerge` or `JSONMerge`")
            );
        } else {
            assert!(said.is_empty(), "{said:?}");
        }
    }
}

#[test]
fn a_tcp_route_takes_single_settings_from_every_policy_above() {
    let tcp = "---\napiVersion: gateway.networking.k8s.io/v1alpha2\nkind: TCPRoute\nmetadata: {name: db, namespace: infra}\n\
               spec: {parentRefs: [{name: gw, sectionName: tcp}], rules: [{name: only, backendRefs: [{name: s, port: 80}]}]}\n";
    let text = with(&[
        traffic(
            "g",
            GW,
            "loadBalancer: {type: Random}, retry: {numRetries: 1}, timeout: {http: {requestTimeout: 1s}}",
        ),
        traffic(
            "l",
            "kind: Gateway, name: gw, sectionName: tcp",
            "tcpKeepalive: {probes: 1}",
        ),
        traffic(
            "r",
            "kind: TCPRoute, name: db",
            "timeout: {tcp: {connectTimeout: 2s}}",
        ),
    ])
    .replace(
        "  - {name: https,",
        "  - {name: tcp, port: 5432, protocol: TCP}\n  - {name: https,",
    ) + tcp;
    assert_eq!(
        spec(&text, &["gw", "gw#tcp", "db", "db#only"]),
        Some(json!({
            "timeout": {"tcp": {"connectTimeout": "2s"}},
            "tcpKeepalive": {"probes": 1},
            "loadBalancer": {"type": "Random"},
        })),
        "each as a whole, and nothing that is not for TCP"
    );
    assert_eq!(
        spec(&text, &["gw", "gw#http", "plain", "plain#first"]).unwrap()["retry"],
        json!({"numRetries": 1})
    );
}

#[test]
fn patches_take_one_target_and_apply_by_priority_then_name() {
    let patch = |name: &str, priority: &str| {
        format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyPatchPolicy\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{targetRef: {{group: gateway.networking.k8s.io, {GW}}}{priority}, type: JSONPatch}}\n"
        )
    };
    let text = with(&[
        patch("a", ", priority: 5"),
        patch("b", ""),
        patch("c", ", priority: -1"),
        patch("d", ""),
    ]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    assert!(
        seen.said()
            .iter()
            .all(|said| said.contains("enableEnvoyPatchPolicy")),
        "{:?}",
        seen.said()
    );
    let report = seen.report();
    let order: Vec<&str> = report.effective[0]
        .result
        .order
        .iter()
        .map(|policy| policy.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(order, ["c", "b", "d", "a"]);
    let profile = &seen.attachments.kinds.rows()[0].profile;
    assert_eq!(profile.targeting.definition.fields, [TargetField::TargetRef]);
}

/// A policy of the model: where it is, how it merges, what it says.
#[derive(Debug, Clone)]
struct Draft {
    target: usize,
    merge: usize,
    fields: Vec<(u8, u8)>,
    types: Vec<u8>,
}

const TARGETS: [&str; 9] = [GW, HTTP, HTTPS, SET, ONE, PLAIN, FIRST, BOTH, ON_SET];

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let fields = prop::collection::vec((0_u8..3, 0_u8..3), 0..3);
    let types = prop::collection::btree_set(0_u8..4, 0..3)
        .prop_map(|set| set.into_iter().collect::<Vec<u8>>())
        .prop_shuffle();
    let draft =
        (0..TARGETS.len(), 0_usize..3, fields, types).prop_map(|(target, merge, fields, types)| Draft {
            target,
            merge,
            fields,
            types,
        });
    prop::collection::vec(draft, 1..9).prop_map(|drafts| {
        // One policy for each target, as the others would be refused.
        let mut by_target: Vec<Draft> = Vec::new();
        for draft in drafts {
            if !by_target.iter().any(|known| known.target == draft.target) {
                by_target.push(draft);
            }
        }
        by_target
    })
}

fn settings(number: usize, draft: &Draft) -> Map {
    let mut settings = Map::new();
    for (field, shape) in &draft.fields {
        let value = match shape {
            0 => json!({"deep": number}),
            1 => json!([number]),
            _ => json!({format!("of-{number}"): {"x": number}}),
        };
        settings.insert(format!("f{field}"), value);
    }
    if !draft.types.is_empty() {
        let items = draft
            .types
            .iter()
            .map(|item| json!({"type": format!("t{item}"), format!("by-{number}"): number}));
        settings.insert("httpUpgrade".to_owned(), items.collect());
    }
    settings
}

/// RFC 7386, straight from its text.
fn merge_patch(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut target = target.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        let merged = merge_patch(target.get(key).unwrap_or(&Value::Null), value);
        target.insert(key.clone(), merged);
    }
    Value::Object(target)
}

/// The elements of a list by their type, in no order.
fn by_type(spec: &Value) -> Map {
    let items = spec["httpUpgrade"].as_array().cloned().unwrap_or_default();
    items
        .into_iter()
        .map(|item| (item["type"].as_str().unwrap().to_owned(), item))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_holds_is_the_closest_policy_or_two_that_merge_and_no_third_one(drafts in drafts()) {
        let merges = |draft: &Draft| draft.merge > 0 && draft.target >= 5;
        let policies: Vec<String> = drafts.iter().enumerate().map(|(number, draft)| {
            let mut settings = settings(number, draft);
            if merges(draft) {
                settings.insert("mergeType".to_owned(), json!(["", "JSONMerge", "StrategicMerge"][draft.merge]));
            }
            // JSON is YAML, and its braces are around the whole spec.
            let settings = serde_json::to_string(&settings).unwrap();
            traffic(&format!("p{number}"), TARGETS[draft.target], &settings[1..settings.len() - 1])
        }).collect();
        let text = with(&policies);
        let hub = hub(&text, &[]);
        let seen = Seen::hub(&hub);
        let find = |target: &str| drafts.iter().position(|draft| TARGETS[draft.target] == target);
        for (route, rule, listener) in [
            ("plain", "first", "gw#http"), ("plain", "second", "gw#http"), ("both", "only", "gw#http"),
            ("both", "only", "gw#https"), ("on-set", "only", "set#one"), ("on-set", "only", "set#two"), ("on-one", "only", "set#one"),
        ] {
            let own = (rule == "first").then(|| find(FIRST)).flatten()
                .or_else(|| find(&format!("kind: HTTPRoute, name: {route}")));
            let above = match listener {
                "gw#http" => find(HTTP),
                "gw#https" => find(HTTPS),
                "set#one" => find(ONE).or_else(|| find(SET)),
                _ => find(SET),
            }.or_else(|| find(GW));
            let all = |number: usize| Value::Object(settings(number, &drafts[number]));
            let expected = match (own, above) {
                (None, None) => None,
                (None, Some(above)) => Some(all(above)),
                (Some(own), Some(above)) if merges(&drafts[own]) => Some(merge_patch(&all(above), &all(own))),
                (Some(own), _) => Some(all(own)),
            };
            let rule = format!("{route}#{rule}");
            let found = seen.spec(&["gw", listener, route, &rule]).or_else(|| seen.spec(&["gw", route, &rule]));
            let strategic = own.is_some_and(|own| merges(&drafts[own]) && drafts[own].merge == 2);
            match (found, expected) {
                (Some(mut found), Some(mut expected)) => {
                    if let (true, Some(own), Some(above)) = (strategic, own, above) {
                        let list = merge_patch(&Value::Object(by_type(&all(above))), &Value::Object(by_type(&all(own))));
                        prop_assert_eq!(Value::Object(by_type(&found)), list);
                        for spec in [&mut found, &mut expected] {
                            spec.as_object_mut().unwrap().remove("httpUpgrade");
                        }
                    }
                    prop_assert_eq!(found, expected, "{} {}", listener, rule);
                }
                (found, expected) => prop_assert_eq!(found, expected, "{} {}", listener, rule),
            }
        }
    }
}

#[test]
fn an_empty_policy_that_takes_over_is_named() {
    let policy = |name: &str, target: &str, settings: &str| {
        format!(
            "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {{name: {name}, namespace: infra}}\n\
             spec: {{targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]{settings}}}\n"
        )
    };
    let text = TOPOLOGY.to_owned()
        + &policy(
            "on-gateway",
            "kind: Gateway, name: gw",
            ", authorization: {defaultAction: Deny}",
        )
        + &policy("optout", "kind: HTTPRoute, name: plain", "");
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let on_gateway = seen.id("SecurityPolicy infra/on-gateway");
    let optout = seen.id("SecurityPolicy infra/optout");
    let losses: Vec<_> = seen
        .effective
        .iter()
        .flat_map(|(_, path)| &path.effective.losses)
        .filter(|loss| loss.policy.policy == on_gateway)
        .collect();
    assert!(!losses.is_empty());
    for loss in losses {
        let by: Vec<_> = loss.by.iter().map(|author| author.policy).collect();
        assert_eq!(by, [optout], "{loss:?}");
    }
}

#[test]
fn a_path_through_a_listener_set_names_the_set_before_its_listener() {
    let text = with(&[
        traffic("o", ONE, "retry: {numRetries: 1}"),
        traffic("h", HTTP, "retry: {numRetries: 2}"),
    ]);
    let hub = hub(&text, &[]);
    let seen = Seen::hub(&hub);
    let paths = seen.effective.iter();
    let labels = paths.map(|(kind, path)| seen.attachments.path_label(kind, &path.path));
    let mut labels: Vec<String> = labels
        .filter(|label| label.ends_with("> only") || label.ends_with("> first"))
        .collect();
    labels.sort();
    labels.dedup();
    assert_eq!(
        labels,
        [
            "Gateway infra/gw > ListenerSet infra/set > listener one > HTTPRoute infra/on-one > only",
            "Gateway infra/gw > ListenerSet infra/set > listener one > HTTPRoute infra/on-set > only",
            "Gateway infra/gw > listener http > HTTPRoute infra/both > only",
            "Gateway infra/gw > listener http > HTTPRoute infra/plain > first",
        ]
    );
}
