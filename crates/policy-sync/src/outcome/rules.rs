//! FleetRules: what must hold of the settings in effect, on every path that traffic can take on the clusters of a fleet.
//!
//! A rule fails closed: an expression without an answer is a violation, and a kind that nobody knows is an error, because a
//! typo must not make `!('AuthPolicy.kuadrant.io' in effective)` true. Clusters that are alike are evaluated once, unless the
//! rule reads the cluster.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::pointer::inside;
use apimachinery::{GroupKind, Work};
use crd_schema::{Condition, Variable};
use kube_json::{Value, json};

use super::in_effect::InEffect;
use super::{PolicyView, Seen};
use crate::api::fleet_rule::{self, Expectation, FleetRule, Test};
use crate::api::kinds::KindTable;
use crate::api::ocm;
use crate::api::overlay::Clusters;
use crate::api::own_kinds::{GROUP, RULE};
use crate::diagnostic::{Code, Finding, Place, counted, first_names, nearest};
use crate::hub::Hub;
use crate::object::{Object, OverlaidField};
use crate::parallel;
use crate::placing::known_clusters;
use crate::policy::{Authored, Effective, KindId, Leaf};
use crate::topology::{Node, Path};

/// What an expression may read; `setting` only with `each`.
const VARIABLES: [&str; 4] = ["cluster", "path", "effective", "setting"];

/// More clusters are counted.
const MOST_NAMES: usize = 5;

/// The work for a path, whose variables are made, and for a setting or a cluster that a rule looks at there.
const STEPS_PER_PATH: u64 = 200;

/// A rule that can be evaluated.
struct Rule<'h> {
    object: &'h Object,
    written: FleetRule,
    each: Option<GroupKind>,
    matches: Option<Condition>,
    assert: Condition,
    /// The clusters that it is about, if not every one.
    clusters: Option<BTreeSet<&'h str>>,
    /// The kinds that it names.
    kinds: BTreeSet<String>,
}

/// What a rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    NotMatched,
    Satisfied,
    /// With the reason, if an expression has no answer.
    Violated(Option<String>),
}

/// Reads the rules of a hub, checks them with their own tests, and evaluates them on the clusters that `admits` accepts.
pub fn check_rules(hub: &Hub, view: &PolicyView<'_>, admits: impl Fn(&str) -> bool + Sync) -> Vec<Finding> {
    let objects = hub.objects.of_kind(GROUP, RULE);
    let Some(first) = objects.first() else {
        return Vec::new();
    };
    let work = Work::for_definitions(objects.iter().map(|object| &object.value));
    let mut findings = Vec::new();
    let mut rules = Vec::new();
    for object in objects {
        let before = findings.len();
        let rule = read(hub, object, &work, &mut findings);
        if let Some(rule) = rule.filter(|_| findings.len() == before) {
            findings.extend(rule.failed_tests(&work));
            rules.push(rule);
        }
    }
    let places: Vec<Seen<'_>> = view.seen().filter(|seen| !seen.clusters.is_empty()).collect();
    let found = parallel::map(&places, |seen| {
        let mut evaluation = Evaluation::new(hub, *seen, &work);
        evaluation.run(&rules, &admits);
        (evaluation.matched, evaluation.violations)
    });
    // Which paths were still evaluated is an accident: it must not show.
    if work.is_spent() {
        let message = "evaluating the FleetRules takes more work than a run allows";
        let finding = Finding::new(Code::RULE_TOO_MANY, first.place("/metadata/name"), message);
        let help =
            "look at fewer clusters (`--clusters`), or write rules that read the cluster by `clusters` only";
        findings.push(finding.help(help));
        return findings;
    }
    let mut matched: BTreeSet<usize> = BTreeSet::new();
    let mut violations: BTreeMap<Key, Violation> = BTreeMap::new();
    for (here, of_class) in found {
        matched.extend(here);
        for (key, violation) in of_class {
            violations.entry(key).or_default().add(violation);
        }
    }
    for (number, rule) in rules.iter().enumerate() {
        if !matched.contains(&number) {
            findings.push(rule.never_matches());
        }
    }
    let violated = |(key, violation): (&Key, &Violation)| Some(rules.get(key.rule)?.violated(key, violation));
    findings.extend(violations.iter().filter_map(violated));
    findings
}

/// A rule; what is wrong with it is a finding.
fn read<'h>(hub: &'h Hub, object: &'h Object, work: &Work, findings: &mut Vec<Finding>) -> Option<Rule<'h>> {
    let (written, wrong) = fleet_rule::read(object);
    findings.extend(wrong);
    let written = written?;
    let mut variables = VARIABLES.to_vec();
    variables.retain(|name| *name != "setting" || written.each.is_some());
    let mut compile = |text: &str, at: &str| {
        let compiled = Condition::compile(text, &variables, work);
        let report = |why| {
            let message = format!("this expression cannot be used: {why}");
            findings.push(invalid(object, at, &message));
        };
        compiled.map_err(report).ok()
    };
    let matches = written.matches.as_deref();
    let matches = matches.map(|text| compile(text, "/spec/match"));
    let assert = written.assert.as_deref();
    let assert = assert.and_then(|text| compile(text, "/spec/assert"));
    let conditions = [
        ("/spec/match", matches.as_ref().and_then(Option::as_ref)),
        ("/spec/assert", assert.as_ref()),
    ];
    let each = written.each.clone().map(|kind| ("/spec/each", kind));
    let named = conditions.into_iter().flat_map(|(at, condition)| {
        let keys = condition.map(|condition| condition.keys_of("effective"));
        keys.into_iter().flatten().map(move |key| (at, key))
    });
    let named: Vec<(&str, String)> = named.chain(each).collect();
    let unknown = named.iter().filter(|(_, kind)| !is_policy(&hub.kinds, kind));
    findings.extend(unknown.map(|(at, kind)| unknown_kind(hub, object, at, kind)));
    let known = known_clusters(hub);
    let names = written
        .clusters
        .iter()
        .flat_map(|clusters| clusters.names.iter().flatten());
    let unknown = names.filter(|(name, _)| !known.contains(name.as_str()));
    findings.extend(unknown.map(|(name, at)| {
        let message = format!("it names cluster `{name}`, which the input does not have");
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "correct the name, or add the ManagedCluster to the input".to_owned(),
        };
        invalid(object, at, &message).help(help)
    }));
    let clusters = written.clusters.as_ref().map(|clusters| {
        let is_chosen = |name: &&str| {
            let managed = hub.objects.find(ocm::GROUP, "ManagedCluster", None, name);
            // A selector may choose a cluster whose labels are unknown.
            clusters.has_name(name)
                && managed.is_none_or(|managed| selects(clusters, &cluster(name, Some(managed))))
        };
        known.iter().copied().filter(is_chosen).collect()
    });
    Some(Rule {
        object,
        each: written.each.as_deref().map(group_kind),
        matches: matches.map_or(Some(None), |matches| matches.map(Some))?,
        assert: assert?,
        clusters,
        kinds: named.into_iter().map(|(_, kind)| kind).collect(),
        written,
    })
}

fn invalid(rule: &Object, at: &str, message: &str) -> Finding {
    let message = format!("{RULE} {}: {message}", rule.name);
    Finding::new(Code::RULE_INVALID, rule.place(at), message)
}

fn unknown_kind(hub: &Hub, rule: &Object, at: &str, kind: &str) -> Finding {
    let policies = hub.kinds.iter().filter(|info| info.is_policy());
    let policies: Vec<String> = policies
        .map(|info| format!("{}.{}", info.kind, info.group))
        .collect();
    let help = match nearest(kind, policies.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "write KIND.GROUP, as in `AuthPolicy.kuadrant.io`, and add the CRD if the kind is not built in"
                .to_owned()
        }
    };
    invalid(rule, at, &format!("there is no kind `{kind}` of policies")).help(help)
}

/// `Kind.group`, taken apart.
fn group_kind(text: &str) -> GroupKind {
    let (kind, group) = text.split_once('.').unwrap_or((text, ""));
    GroupKind::new(group, kind)
}

fn is_policy(kinds: &KindTable, kind: &str) -> bool {
    let kind = group_kind(kind);
    let info = kinds.kind(&kind.group, &kind.kind);
    info.is_some_and(|info| info.is_policy())
}

/// Whether the selectors choose a cluster with these labels and claims.
fn selects(clusters: &Clusters, cluster: &Value) -> bool {
    let text = |field: &str, key: &str| cluster.get(field)?.get(key)?.as_str();
    clusters.has_matching_selectors(|key| text("labels", key), |key| text("claims", key))
}

/// The variable `cluster`. Nothing is known of a cluster without a ManagedCluster but its name.
fn cluster(name: &str, managed: Option<&Object>) -> Value {
    let Some(managed) = managed else {
        return json!({"name": name});
    };
    let status = managed
        .value
        .pointer("/status/clusterClaims")
        .and_then(Value::as_array);
    let claims = status.into_iter().flatten().filter_map(|claim| {
        let text = |field: &str| claim.get(field).and_then(Value::as_text).cloned();
        Some((text("name")?, Value::String(text("value")?)))
    });
    json!({
        "name": name,
        "labels": member(managed, "labels"),
        "annotations": member(managed, "annotations"),
        "claims": Value::Object(claims.collect()),
    })
}

/// Labels or annotations; none is an empty map.
fn member(object: &Object, field: &str) -> Value {
    let metadata = object.value.get("metadata");
    let member = metadata
        .and_then(|metadata| metadata.get(field))
        .filter(|member| member.is_object());
    member.cloned().unwrap_or_else(|| json!({}))
}

impl Rule<'_> {
    fn has_variable(&self, name: &str) -> bool {
        let matches = self.matches.iter();
        matches
            .chain([&self.assert])
            .any(|condition| condition.has_variable(name))
    }

    fn judge(&self, variables: &[(&str, &Variable)], work: &Work) -> Verdict {
        let mut allowance = work.allowance(&self.object.value);
        let matches = self
            .matches
            .as_ref()
            .map(|matches| matches.evaluate(variables, &mut allowance));
        match matches {
            Some(Ok(false)) => return Verdict::NotMatched,
            Some(Err(why)) => return Verdict::Violated(Some(format!("`match` has no answer: {why}"))),
            Some(Ok(true)) | None => {}
        }
        match self.assert.evaluate(variables, &mut allowance) {
            Ok(true) => Verdict::Satisfied,
            Ok(false) => Verdict::Violated(None),
            Err(why) => Verdict::Violated(Some(format!("`assert` has no answer: {why}"))),
        }
    }

    /// The tests that come out otherwise.
    fn failed_tests(&self, work: &Work) -> Vec<Finding> {
        let failed = self.written.tests.iter().filter_map(|(position, test)| {
            let (outcome, why) = match self.judge_test(test, work) {
                Verdict::NotMatched => (Expectation::NotMatched, None),
                Verdict::Satisfied => (Expectation::Satisfied, None),
                Verdict::Violated(why) => (Expectation::Violated, why),
            };
            let message = format!(
                "{RULE} {}: the test `{}` expects {:?}, but it is {outcome:?}",
                self.object.name, test.name, test.expect
            );
            let place = self.object.place(&format!("/spec/tests/{position}/expect"));
            let finding = Finding::new(Code::RULE_TEST_FAILED, place, message);
            let finding = why.into_iter().fold(finding, Finding::note);
            (outcome != test.expect).then(|| finding.help("correct the rule, or what the test expects"))
        });
        failed.collect()
    }

    fn judge_test(&self, test: &Test, work: &Work) -> Verdict {
        let given = |name: &str| test.given.get(name);
        if let (Some(clusters), Some(cluster)) = (&self.written.clusters, given("cluster")) {
            let name = cluster.get("name").and_then(Value::as_str).unwrap_or_default();
            if !(clusters.has_name(name) && selects(clusters, cluster)) {
                return Verdict::NotMatched;
            }
        }
        let variables = VARIABLES.map(|name| (name, given(name).map(Variable::from)));
        let variables = variables
            .iter()
            .filter_map(|(name, value)| Some((*name, value.as_ref()?)));
        self.judge(&variables.collect::<Vec<_>>(), work)
    }

    fn never_matches(&self) -> Finding {
        let what = if self.each.is_some() {
            "setting in effect"
        } else {
            "path"
        };
        let message = format!("{RULE} {} is about no {what} of the fleet", self.object.name);
        let at = if self.matches.is_some() {
            "/spec/match"
        } else {
            "/metadata/name"
        };
        let finding = Finding::new(Code::RULE_NEVER_MATCHES, self.object.place(at), message);
        finding.help("correct `match`, `each`, or `clusters`, or remove the rule")
    }

    fn violated(&self, key: &Key, violation: &Violation) -> Finding {
        let clusters = first_names(&violation.clusters, MOST_NAMES);
        let message = format!("{}: {} breaks it on {clusters}", self.written.message, key.what);
        let mut finding = Finding::new(Code::RULE_VIOLATED, key.place.clone(), message)
            .severity(self.written.severity)
            .related(
                self.object.place("/spec/assert"),
                format!("{RULE} {}", self.object.name),
            );
        if let Some(why) = &key.why {
            finding = finding.note(format!("{why}; what cannot be evaluated is a violation"));
        }
        for (kind, policies) in &violation.in_effect {
            finding = finding.note(if policies.is_empty() {
                format!("no {kind} is in effect there")
            } else {
                format!("{kind} in effect there: {}", first_names(policies, MOST_NAMES))
            });
        }
        if violation.paths.len() > 1 {
            finding = finding.note(counted(violation.paths.len(), "path"));
        }
        finding.help("correct the policies, or accept it with a reason: `suppress` in spokewright.yaml")
    }
}

/// What tells violations apart: equal ones of several paths and clusters are one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: usize,
    place: Place,
    /// What breaks the rule.
    what: String,
    why: Option<String>,
}

/// Where a rule is broken.
#[derive(Debug, Default)]
struct Violation {
    clusters: BTreeSet<String>,
    /// Of the clusters where it is broken on most.
    paths: BTreeSet<Path>,
    /// The policies of each kind that the rule names.
    in_effect: BTreeMap<String, BTreeSet<String>>,
}

impl Violation {
    fn add(&mut self, other: Self) {
        self.clusters.extend(other.clusters);
        if other.paths.len() > self.paths.len() {
            self.paths = other.paths;
        }
        for (kind, policies) in other.in_effect {
            self.in_effect.entry(kind).or_default().extend(policies);
        }
    }
}

/// The evaluation of all rules on clusters that are alike.
struct Evaluation<'v, 'w> {
    hub: &'v Hub,
    seen: Seen<'v>,
    work: &'w Work,
    in_effect: InEffect<'v>,
    /// The variable `effective`, by the results that it is made of.
    cache: HashMap<Vec<(KindId, *const Effective)>, Arc<Variable>>,
    /// The rules that are about something here.
    matched: BTreeSet<usize>,
    violations: BTreeMap<Key, Violation>,
}

/// A path, with what applies there.
struct Here<'v> {
    path: Path,
    in_effect: Vec<(KindId, &'v Arc<Effective>)>,
    /// The variables of these.
    variable: Variable,
    effective: Arc<Variable>,
}

/// A setting of a kind, with what a rule may read of it.
type Setting<'v> = (&'v str, &'v Leaf, Variable);

impl<'v, 'w> Evaluation<'v, 'w> {
    fn new(hub: &'v Hub, seen: Seen<'v>, work: &'w Work) -> Self {
        Self {
            hub,
            seen,
            work,
            in_effect: InEffect::new(seen),
            cache: HashMap::new(),
            matched: BTreeSet::new(),
            violations: BTreeMap::new(),
        }
    }

    fn run(&mut self, rules: &[Rule<'_>], admits: &dyn Fn(&str) -> bool) {
        let (seen, hub) = (self.seen, self.hub);
        let here = seen
            .clusters
            .iter()
            .map(String::as_str)
            .filter(|name| admits(name));
        let here: Vec<&str> = here.collect();
        let of_rule = |rule: &Rule<'_>| {
            let is_chosen = |name: &str| {
                rule.clusters
                    .as_ref()
                    .is_none_or(|clusters| clusters.contains(name))
            };
            let clusters = here.iter().copied().filter(|name| is_chosen(name));
            // Without the variable, what is true of one cluster is true of all.
            if rule.has_variable("cluster") {
                let each = clusters.map(|name| {
                    let managed = hub.objects.find(ocm::GROUP, "ManagedCluster", None, name);
                    (vec![name], Some(Variable::from(&cluster(name, managed))))
                });
                return each.collect();
            }
            let all: Vec<&str> = clusters.collect();
            let all = Some((all, None)).filter(|(all, _)| !all.is_empty());
            Vec::from_iter(all)
        };
        let clusters: Vec<Vec<(Vec<&str>, Option<Variable>)>> = rules.iter().map(of_rule).collect();
        if clusters.iter().all(Vec::is_empty) {
            return;
        }
        for path in self.in_effect.paths(self.work) {
            let in_effect = self.in_effect.on(&path);
            let here = Here {
                effective: self.effective(&in_effect),
                variable: Variable::from(&self.path(&path)),
                path,
                in_effect,
            };
            for (number, (rule, clusters)) in rules.iter().zip(&clusters).enumerate() {
                let settings = match &rule.each {
                    Some(kind) => self.settings(kind, &here).into_iter().map(Some).collect(),
                    None => vec![None],
                };
                for setting in &settings {
                    for clusters in clusters {
                        if !self.work.pay(1, STEPS_PER_PATH) {
                            return;
                        }
                        self.judge((number, rule), &here, setting.as_ref(), clusters);
                    }
                }
            }
        }
    }

    fn judge(
        &mut self,
        (number, rule): (usize, &Rule<'_>),
        here: &Here<'v>,
        setting: Option<&Setting<'v>>,
        (clusters, cluster): &(Vec<&str>, Option<Variable>),
    ) {
        let mut variables = vec![("path", &here.variable), ("effective", &*here.effective)];
        variables.extend(setting.map(|(.., value)| ("setting", value)));
        variables.extend(cluster.iter().map(|cluster| ("cluster", cluster)));
        let verdict = rule.judge(&variables, self.work);
        if verdict != Verdict::NotMatched {
            self.matched.insert(number);
        }
        let Verdict::Violated(why) = verdict else { return };
        let (place, what) = self.subject(&here.path, setting);
        let key = Key {
            rule: number,
            place,
            what,
            why,
        };
        let in_effect = self.policies(rule, here);
        let violation = self.violations.entry(key).or_default();
        violation.paths.insert(here.path);
        violation.add(Violation {
            clusters: clusters.iter().map(|name| (*name).to_owned()).collect(),
            paths: BTreeSet::new(),
            in_effect,
        });
    }

    /// The variable `effective`.
    fn effective(&mut self, in_effect: &[(KindId, &'v Arc<Effective>)]) -> Arc<Variable> {
        let key = in_effect
            .iter()
            .map(|(kind, effective)| (*kind, Arc::as_ptr(effective)));
        let key: Vec<(KindId, *const Effective)> = key.collect();
        if let Some(variable) = self.cache.get(&key) {
            return Arc::clone(variable);
        }
        let fields = in_effect.iter().map(|(kind, effective)| {
            let profile = self.in_effect.profile(*kind);
            let mut value = json!({
                "policies": self.authors(effective).into_iter().map(name_of).collect::<Value>(),
                "open": profile.lets_everybody_in(&effective.content),
            });
            if let (Value::Object(fields), Some(spec)) = (&mut value, effective.spec(profile)) {
                fields.insert("spec", spec);
            }
            (
                format!("{}.{}", profile.kind, profile.group),
                Variable::from(&value),
            )
        });
        let fields: Vec<(String, Variable)> = fields.collect();
        let variable =
            Variable::from_fields(fields.iter().map(|(name, value)| (name.as_str(), value.clone())));
        let variable = Arc::new(variable);
        self.cache.insert(key, Arc::clone(&variable));
        variable
    }

    /// The policies that a result comes from.
    fn authors(&self, effective: &Effective) -> Vec<&'v Object> {
        let attachments = self.seen.attachments;
        let authors = effective.sources(attachments).into_iter();
        authors
            .map(|author| attachments.authored(author).object)
            .collect()
    }

    /// The settings of a kind.
    fn settings(&self, kind: &GroupKind, here: &Here<'v>) -> Vec<Setting<'v>> {
        let of_kind = here
            .in_effect
            .iter()
            .filter(|(id, _)| self.in_effect.profile(*id).group_kind() == *kind);
        let settings = of_kind.flat_map(|(_, effective)| effective.content.iter());
        let settings = settings.map(|(name, leaf)| {
            let (authored, pointer) = self.seen.attachments.written_at(name, leaf);
            let mut value = json!({"name": &**name, "policy": name_of(authored.object)});
            if let Value::Object(fields) = &mut value {
                fields.insert("value", Value::clone(&leaf.value));
                if let Some(field) = overlaid(authored, &pointer) {
                    fields.insert("overlay", Value::from(field.overlay.name.as_str()));
                }
            }
            (&**name, leaf, Variable::from(&value))
        });
        settings.collect()
    }

    /// The policies in effect of each kind that a rule names.
    fn policies(&self, rule: &Rule<'_>, here: &Here<'v>) -> BTreeMap<String, BTreeSet<String>> {
        if rule.each.is_some() {
            return BTreeMap::new();
        }
        let kinds = rule.kinds.iter().map(|kind| {
            let wanted = group_kind(kind);
            let of_kind = here
                .in_effect
                .iter()
                .filter(|(id, _)| self.in_effect.profile(*id).group_kind() == wanted);
            let policies = of_kind.flat_map(|(_, effective)| self.authors(effective));
            (kind.clone(), policies.map(Object::key).collect())
        });
        kinds.collect()
    }

    /// Where a violation is, and what breaks the rule there.
    fn subject(&self, path: &Path, setting: Option<&Setting<'v>>) -> (Place, String) {
        let topology = &self.seen.attachments.topology;
        if let Some((name, leaf, _)) = setting {
            let (authored, pointer) = self.seen.attachments.written_at(name, leaf);
            let what = format!("`{name}` of {}", authored.object.identity());
            let field = overlaid(authored, &pointer).map(|field| field.pointer.as_str());
            return (authored.object.key_place(field.unwrap_or(&pointer)), what);
        }
        if let Some(route) = path.route {
            let object = topology.routes.get(route).object;
            return (object.place("/metadata/name"), object.identity().to_string());
        }
        let (Some(listener), Some(gateway)) = (path.listener, path.gateway()) else {
            let what = topology.identity(path.start.node()).to_string();
            return (Place::Run, what);
        };
        let node = topology.listeners.get(listener);
        let what = format!(
            "listener {} of {}",
            node.name,
            topology.identity(Node::Gateway(gateway))
        );
        (node.owner.place(&format!("{}/name", node.pointer)), what)
    }

    /// The variable `path`.
    fn path(&self, path: &Path) -> Value {
        let topology = &self.seen.attachments.topology;
        let mut fields: Vec<(&str, Value)> = Vec::new();
        if let Some(gateway) = path.gateway() {
            let object = topology.gateways.get(gateway).known_as();
            fields.push(("gateway", described(object, &[])));
        }
        if let Some(listener) = path.listener.map(|listener| topology.listeners.get(listener)) {
            let mut value = json!({"name": listener.name, "protocol": listener.protocol});
            if let Value::Object(members) = &mut value {
                if let Some(port) = listener.port {
                    members.insert("port", port.into());
                }
                if let Some(hostname) = listener.hostname {
                    members.insert("hostname", hostname.into());
                }
            }
            fields.push(("listener", value));
        }
        if let Some(route) = path.route.map(|route| topology.routes.get(route)) {
            let hostnames = route
                .route
                .hostnames
                .iter()
                .map(|name| Value::from(name.as_str()));
            let more = [
                ("kind", Value::from(route.object.kind.as_str())),
                ("hostnames", hostnames.collect()),
            ];
            fields.push(("route", described(route.object, &more)));
        }
        if let Some(rule) = path.rule.map(|rule| topology.rules.get(rule)) {
            fields.push(("rule", json!({"name": rule.name.as_str()})));
        }
        if let Some(backend) = path.backend {
            let identity = topology.identity(Node::Backend(backend));
            fields.push((
                "service",
                json!({
                    "kind": identity.group_kind.kind.as_str(),
                    "namespace": identity.namespace.as_deref().unwrap_or_default(),
                    "name": identity.name.as_str(),
                }),
            ));
        }
        fields.into_iter().collect()
    }
}

/// What a ClusterOverlay changed of a setting: the field around it, or one inside.
fn overlaid<'a>(authored: &Authored<'a>, pointer: &str) -> Option<&'a OverlaidField> {
    let mut fields = authored.object.overlaid.iter().flat_map(|fields| fields.iter());
    fields
        .find(|field| inside(&field.pointer, pointer).is_some() || inside(pointer, &field.pointer).is_some())
}

fn name_of(object: &Object) -> Value {
    json!({"namespace": object.namespace_or_empty(), "name": object.name.as_str()})
}

/// Names, labels, annotations, and more of an object.
fn described(object: &Object, more: &[(&str, Value)]) -> Value {
    let mut value = name_of(object);
    if let Value::Object(fields) = &mut value {
        for field in ["labels", "annotations"] {
            fields.insert(field, member(object, field));
        }
        for (name, more) in more {
            fields.insert(*name, more.clone());
        }
    }
    value
}
