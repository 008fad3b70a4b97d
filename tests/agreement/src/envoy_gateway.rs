//! `internal/gatewayapi/testdata` of envoyproxy/gateway: `NAME.in.yaml` has objects in lists by kind, `NAME.out.yaml` the
//! same with their statuses, and in `xdsIR` what each rule of a route gets.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use kube_json::{Value, json};

use super::Tally;
use super::answers::{Answers, compare_ancestors, compare_routes, condition, located, locator, path_of};

pub(crate) const SUFFIX: &str = ".in.yaml";
const GROUP: &str = "gateway.envoyproxy.io";
const CONDITIONS: [(&str, &str); 3] = [
    ("Accepted of policies", "Accepted"),
    ("Overridden of policies", "Overridden"),
    ("Merged of policies", "Merged"),
];
/// What of an xDS route comes from which kind of policy.
const PARTS: [(&str, &str); 3] = [
    ("traffic", "BackendTrafficPolicy"),
    ("security", "SecurityPolicy"),
    ("envoyExtensions", "EnvoyExtensionPolicy"),
];
/// Settings that have another name there than in the policy.
const NAMES: [(&str, &str); 7] = [
    ("backendConnection", "connection"),
    ("compressor", "compression"),
    ("extProcs", "extProc"),
    ("luas", "lua"),
    ("wasms", "wasm"),
    ("dynamicModules", "dynamicModule"),
    ("httpUpgrades", "httpUpgrade"),
];
/// Settings of policies that no rule gets: they say how policies combine, or stand elsewhere there.
const ELSEWHERE: [&str; 4] = ["mergeType", "useClientProtocol", "telemetry", "name"];

/// Compares one case.
pub(crate) fn compare(tally: &mut Tally, case: &str, file: &Path) -> Result<(), Box<dyn Error>> {
    let limits = kube_yaml::Limits::default();
    let read = |file: &Path| -> Result<Value, Box<dyn Error>> {
        Ok(kube_yaml::read_document(&fs::read_to_string(file)?, &limits)?)
    };
    let name = file.to_string_lossy();
    let golden = read(Path::new(&format!(
        "{}.out.yaml",
        name.strip_suffix(SUFFIX).unwrap_or(&name)
    )))?;
    let input = read(file)?;
    let mut objects = objects(&input);
    if !objects.iter().any(|object| object["kind"] == "GatewayClass") {
        // The newer name and the older ones.
        let proxies = ["envoyProxyForGatewayClass", "classEnvoyProxy", "envoyProxy"];
        let proxy = proxies.iter().find_map(|name| input.get(name));
        objects.push(class(proxy.unwrap_or(&Value::Null)));
    }
    in_their_order(&mut objects);
    let mut golden_objects = self::objects(&golden);
    golden_objects.extend(patches(&objects, &golden));
    let answers = Answers::about(&objects)?;
    for policy in golden_objects.iter().filter(|object| is_of_envoy_gateway(object)) {
        let status = &policy["status"];
        let ours = answers.policy(policy);
        compare_ancestors(tally, case, (policy, status, ours), &CONDITIONS);
        let is_valid = status["ancestors"]
            .as_array()
            .is_some_and(|ancestors| !ancestors.is_empty())
            && condition(&status["ancestors"][0]["conditions"], "Accepted") == "True Accepted";
        if is_valid {
            let named = format!(
                "{} {}/{}",
                policy["kind"], policy["metadata"]["namespace"], policy["metadata"]["name"]
            );
            let named = named.replace('"', "");
            let refused = answers
                .errors
                .iter()
                .find(|error| error.contains(&named) && !error.starts_with("empty/"));
            let ours = refused.map_or("not refused", String::as_str);
            tally.say("valid policies", (case, &locator(policy)), &"not refused", &ours);
        }
    }
    compare_routes(tally, case, &objects, &golden_objects)?;
    effective(tally, case, &objects, &golden, &answers);
    Ok(())
}

/// The class that all cases mean, with its EnvoyProxy if there is one.
fn class(proxy: &Value) -> Value {
    let reference = proxy.is_object().then(|| {
        json!({
            "group": GROUP,
            "kind": "EnvoyProxy",
            "namespace": proxy["metadata"]["namespace"],
            "name": proxy["metadata"]["name"],
        })
    });
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": {"name": "envoy-gateway-class"},
        "spec": {
            "controllerName": "gateway.envoyproxy.io/gatewayclass-controller",
            "parametersRef": reference,
        },
    })
}

/// EnvoyPatchPolicies of the input with their statuses, which older files have in `xdsIR` alone; none of one that is left out
/// there. Newer files have them beside the other policies.
fn patches(objects: &[Value], golden: &Value) -> Vec<Value> {
    if golden["envoyPatchPolicies"].is_array() {
        return Vec::new();
    }
    let gateways = golden["xdsIR"].as_object().into_iter();
    let gateways = gateways.flat_map(|gateways| gateways.values());
    let listed: Vec<&Value> = gateways
        .flat_map(|gateway| gateway["envoyPatchPolicies"].as_array().into_iter().flatten())
        .collect();
    let policies = objects
        .iter()
        .filter(|object| object["kind"] == "EnvoyPatchPolicy");
    policies
        .map(|policy| {
            let of_policy = |known: &&&Value| {
                let metadata = &policy["metadata"];
                known["name"] == metadata["name"] && known["namespace"] == metadata["namespace"]
            };
            let mut policy = policy.clone();
            policy["status"] = listed
                .iter()
                .find(of_policy)
                .map_or(Value::Null, |known| known["status"].clone());
            policy
        })
        .collect()
}

/// Gives each policy that has no age one by its place in the file: the translator, which made the golden files, takes the order
/// of its input for that of ages, as it gets a sorted input elsewhere.
fn in_their_order(objects: &mut [Value]) {
    for (place, policy) in objects
        .iter_mut()
        .filter(|object| is_of_envoy_gateway(object))
        .enumerate()
    {
        if policy["metadata"]["creationTimestamp"].is_null() {
            let (minute, second) = (place / 60 % 60, place % 60);
            policy["metadata"]["creationTimestamp"] =
                json!(format!("2000-01-01T00:{minute:02}:{second:02}Z"));
        }
    }
}

/// A policy that Envoy Gateway writes a status of.
fn is_of_envoy_gateway(object: &Value) -> bool {
    let of_group = object["apiVersion"]
        .as_str()
        .is_some_and(|version| version.starts_with(GROUP));
    let kind = object["kind"].as_str().unwrap_or_default();
    // Gateway API's own kind that it serves as well.
    (of_group && kind.ends_with("Policy")) || kind == "BackendTLSPolicy"
}

/// The objects of a file: each list at the top, and each object that stands there alone.
fn objects(file: &Value) -> Vec<Value> {
    let parts = file.as_object().into_iter().flat_map(|parts| parts.values());
    let is_object = |value: &&Value| value["kind"].is_string() && value["apiVersion"].is_string();
    let all = parts.flat_map(|part| {
        part.as_array()
            .map_or_else(|| std::slice::from_ref(part), Vec::as_slice)
    });
    all.filter(is_object).cloned().collect()
}

/// Which settings of policies each rule of a route gets at each listener.
fn effective(tally: &mut Tally, case: &str, objects: &[Value], golden: &Value, answers: &Answers) {
    // By listener, rule of a route and kind of policy.
    let mut theirs: BTreeMap<(String, String), BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    let listeners = golden["xdsIR"]
        .as_object()
        .into_iter()
        .flat_map(|gateways| gateways.values());
    for listener in listeners.flat_map(|gateway| gateway["http"].as_array().into_iter().flatten()) {
        let name = listener["name"].as_str().unwrap_or_default();
        for route in listener["routes"].as_array().into_iter().flatten() {
            let Some(rule) = route["name"].as_str().and_then(|name| rule(name, objects)) else {
                continue;
            };
            let of_rule = theirs.entry((name.to_owned(), rule)).or_default();
            for (part, kind) in PARTS {
                let parts = |of: &'_ Value| of[part].as_object().filter(|part| !part.is_empty()).cloned();
                // Lua of a Gateway stands at its listeners, and holds for a rule that has nothing of its own.
                let part = parts(route).or_else(|| parts(listener)).unwrap_or_default();
                let settings = part.keys();
                let settings = settings.map(|name| {
                    let renamed = NAMES.iter().find(|(there, _)| there == name);
                    renamed.map_or(name.as_str(), |(_, here)| here).to_owned()
                });
                let settings = settings.filter(|name| !ELSEWHERE.contains(&name.as_str()));
                of_rule.entry(kind).or_default().extend(settings);
            }
        }
    }
    for ((listener, rule), by_kind) in theirs {
        for (kind, golden) in by_kind {
            let ours = settings(answers, kind, &listener, &rule);
            let list = |names: &BTreeSet<String>| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                if names.is_empty() {
                    "nothing".to_owned()
                } else {
                    names.join(" ")
                }
            };
            if golden.is_empty() && ours.is_empty() {
                continue;
            }
            let about = format!("{kind} at {listener}, {rule}");
            tally.say(
                "effective settings of rules",
                (case, &about),
                &list(&golden),
                &list(&ours),
            );
        }
    }
}

/// The locator of the rule that a route of xDS is made from: `httproute/default/web/rule/0/match/0/example_com`.
fn rule(name: &str, objects: &[Value]) -> Option<String> {
    let mut parts = name.split('/');
    let (kind, namespace, route) = (parts.next()?, parts.next()?, parts.next()?);
    let index: usize = parts.nth(1)?.parse().ok()?;
    let route = located("gateway.networking.k8s.io", kind, namespace, route);
    let object = objects.iter().find(|object| locator(object) == route)?;
    let named = object["spec"]["rules"][index]["name"].as_str();
    let rule = named.map_or_else(|| format!("rule-{}", index + 1), str::to_owned);
    Some(format!("{route}#{rule}"))
}

/// The settings of a kind that hold for a rule at a listener, `default/eg/http`.
fn settings(answers: &Answers, kind: &str, listener: &str, rule: &str) -> BTreeSet<String> {
    let mut parts = listener.splitn(3, '/');
    let (namespace, gateway, section) = (parts.next(), parts.next(), parts.next());
    let gateway = located(
        "gateway.networking.k8s.io",
        "Gateway",
        namespace.unwrap_or_default(),
        gateway.unwrap_or_default(),
    );
    // A listener of a ListenerSet follows its set: `default/eg/teams/extra/http`.
    let section = section.unwrap_or_default();
    let at = match section.split('/').collect::<Vec<_>>().as_slice() {
        [namespace, set, section] => {
            let set = located("gateway.networking.k8s.io", "ListenerSet", namespace, set);
            format!("{set}#{section}")
        }
        _ => format!("{gateway}#{section}"),
    };
    let entries = answers.policies["effective"].as_array().into_iter().flatten();
    let holds = |entry: &&Value| {
        let path = path_of(entry);
        let of_gateway = format!("{gateway}#");
        entry["kind"] == kind
            && path.contains(&gateway.as_str())
            && path.contains(&rule)
            && (path.contains(&at.as_str()) || !path.iter().any(|locator| locator.starts_with(&of_gateway)))
    };
    entries
        .filter(holds)
        .flat_map(|entry| entry["spec"].as_object().into_iter().flatten())
        // Like compressors of which none is enabled.
        .filter(|(_, setting)| setting.as_array().is_none_or(|list| !list.is_empty()))
        .map(|(name, _)| {
            NAMES
                .iter()
                .find(|(there, _)| there == name)
                .map_or(name.as_str(), |(_, here)| here)
        })
        .filter(|name| !ELSEWHERE.contains(name) && !name.starts_with("target"))
        .map(str::to_owned)
        .collect()
}
