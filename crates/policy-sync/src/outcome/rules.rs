//! FleetRules: what must hold of the settings in effect, on every path that traffic can take on the clusters of a fleet.
//!
//! A rule fails closed: an expression without an answer is a violation, and a kind that nobody knows is an error, because a
//! typo must not make `!('AuthPolicy.kuadrant.io' in effective)` true. Clusters that are alike are evaluated once, unless the
//! rule reads the cluster.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use apimachinery::pointer::inside;
use apimachinery::{GroupKind, Work};
use crd_schema::{Condition, Variable};
use kube_json::{Value, json};

use super::coverage::InEffect;
use super::rule_outcome::{ClusterNames, RuleOutcome, RuleState, RuleViolation};
use super::{PolicyView, Seen};
use crate::api::fleet_rule::{self, Expectation, FleetRule, Test};
use crate::api::kinds::KindTable;
use crate::api::ocm;
use crate::api::overlay::Clusters;
use crate::api::own_kinds::{GROUP, RULE};
use crate::diagnostic::{Code, Finding, FindingData, Place, Severity, counted, did_you_mean, first_names};
use crate::hub::Hub;
use crate::object::{Object, OverlaidField};
use crate::parallel;
use crate::placing::{known_clusters, share};
use crate::policy::{Authored, Effective, KindId, Leaf};
use crate::topology::{Node, Path};

/// What an expression may read; `setting` only with `each`.
const VARIABLES: [&str; 4] = ["cluster", "path", "effective", "setting"];

/// More clusters are counted.
const MOST_NAMES: usize = 5;

/// The work for a path, whose variables are made, and for a setting or a cluster that a rule looks at there.
const STEPS_PER_PATH: u64 = 200;

/// The work for a cluster that the selectors of a rule look at.
const STEPS_PER_CLUSTER: u64 = 2;

/// A rule that can be evaluated.
struct Rule<'h> {
    object: &'h Object,
    written: FleetRule,
    each: Option<GroupKind>,
    matches: Option<Condition>,
    assert: Condition,
    /// The clusters that it is about, if not every one.
    clusters: Option<BTreeSet<&'h str>>,
    /// The kinds of policies that it names.
    kinds: BTreeMap<String, GroupKind>,
}

/// Whether a rule that is not violated matches; or the violation, which is one if it is equal on several paths and clusters.
type Verdict = Result<bool, RuleViolation>;

/// The clusters of a fleet, each as the variable `cluster`.
type Fleet<'h> = BTreeMap<&'h str, Value>;

/// Lists of clusters, by the place and the position of each there.
type ClassLists = BTreeMap<(usize, usize), ClusterNames>;

/// Reads the rules of a hub, checks them with their own tests, and evaluates them on the clusters that `admits` accepts.
pub fn check_rules<'h>(
    hub: &'h Hub,
    view: &'h PolicyView<'_>,
    admits: impl Fn(&str) -> bool + Sync,
) -> (Vec<RuleOutcome>, Vec<Finding>) {
    let objects = hub.objects.of_kind(GROUP, RULE);
    let Some(first) = objects.first() else {
        return Default::default();
    };
    let work = Work::for_definitions(objects.iter().map(|object| &object.value));
    let mut names = known_clusters(hub);
    names.extend(view.seen().flat_map(|seen| seen.clusters).map(String::as_str));
    let fleet = names.into_iter().map(|name| {
        let managed = hub.objects.find(ocm::GROUP, "ManagedCluster", None, name);
        (name, cluster(name, managed))
    });
    let fleet: Fleet<'_> = fleet.collect();
    let (mut findings, mut outcomes, mut rules) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (number, object) in objects.iter().enumerate() {
        let before = findings.len();
        let rule = read((hub, &fleet), object, &work, &mut findings);
        let written = rule.as_ref().map(|rule| &rule.written);
        let spec = written.map(|rule| &rule.spec);
        outcomes.push(RuleOutcome {
            rule: object.identity().locator(),
            message: spec.and_then(|spec| spec.message.clone()).unwrap_or_default(),
            severity: written.map_or(Severity::Error, |rule| rule.severity).as_str(),
            each: spec.and_then(|spec| spec.each.clone()),
            at: object.place(""),
            ..RuleOutcome::default()
        });
        if let Some(rule) = rule.filter(|_| findings.len() == before) {
            findings.extend(rule.failed_tests(&work));
            rules.insert(number, rule);
        }
    }
    let places = view.seen().filter(|seen| !seen.clusters.is_empty());
    let places: Vec<(usize, Seen<'_>)> = places.enumerate().collect();
    let evaluated = parallel::map(&places, |(number, seen)| {
        let clusters = seen.clusters.iter().map(String::as_str);
        let clusters: ClusterNames = clusters.filter(|name| admits(name)).map(Arc::from).collect();
        let chosen = rules.values().map(|rule| rule.chosen(&clusters, &fleet));
        let chosen: Vec<Vec<EvaluatedClusters>> = chosen.collect();
        if chosen.iter().all(Vec::is_empty) {
            return Judgments::new();
        }
        let mut evaluation = Evaluation {
            number: *number,
            work: &work,
            in_effect: &InEffect::new(*seen, &work),
            cache: HashMap::new(),
            judgments: Judgments::new(),
        };
        evaluation.run(&rules, &chosen);
        evaluation.judgments
    });
    // Which paths were still evaluated is an accident: it must not show.
    if work.is_spent() {
        let message = "evaluating the FleetRules takes more work than a run allows";
        let finding = Finding::new(Code::RULE_TOO_MANY, first.place("/metadata/name"), message);
        let help =
            "look at fewer clusters (`--clusters`), or write rules that read the cluster by `clusters` only";
        findings.push(finding.help(help));
        return (outcomes, findings);
    }
    let mut judgments = Judgments::new();
    for (key, judgment) in evaluated.into_iter().flatten() {
        judgments.entry(key).or_default().add(judgment);
    }
    let (mut matched, mut shared) = (BTreeMap::<usize, ClassLists>::new(), HashSet::new());
    for ((number, verdict), judgment) in judgments {
        let Some((rule, outcome)) = rules.get(&number).zip(outcomes.get_mut(number)) else {
            continue;
        };
        let count = match &verdict {
            Ok(false) => &mut outcome.not_matched,
            Ok(true) => &mut outcome.satisfied,
            Err(_) => &mut outcome.violated,
        };
        *count = count.saturating_add(judgment.count);
        if let Err(mut violation) = verdict {
            violation.clusters = joined(&judgment.clusters, &mut shared);
            violation.paths = judgment.paths.len();
            findings.push(rule.violated(&violation, &judgment.in_effect));
            outcome.violations.push(violation);
        }
        matched.entry(number).or_default().extend(judgment.clusters);
    }
    for (number, rule) in &rules {
        let Some(outcome) = outcomes.get_mut(*number) else {
            continue;
        };
        outcome.clusters = joined(&matched.remove(number).unwrap_or_default(), &mut shared);
        outcome.state = match (outcome.violated, outcome.satisfied) {
            (1.., _) => RuleState::Violated,
            (0, 1..) => RuleState::Satisfied,
            (0, 0) => RuleState::NeverMatches,
        };
        if outcome.state == RuleState::NeverMatches {
            findings.push(rule.never_matches());
        }
    }
    (outcomes, findings)
}

/// The clusters of several lists, sorted, and each list once.
fn joined(lists: &ClassLists, shared: &mut HashSet<ClusterNames>) -> ClusterNames {
    let names: BTreeSet<&Arc<str>> = lists.values().flat_map(|list| list.iter()).collect();
    share(shared, names.into_iter().cloned().collect::<Vec<_>>())
}

/// A rule; what is wrong with it is a finding.
fn read<'h>(
    (hub, fleet): (&Hub, &Fleet<'h>),
    object: &'h Object,
    work: &Work,
    findings: &mut Vec<Finding>,
) -> Option<Rule<'h>> {
    let (written, mistakes) = fleet_rule::read(object);
    findings.extend(mistakes);
    let written = written?;
    let spec = &written.spec;
    let mut variables = VARIABLES.to_vec();
    variables.retain(|name| *name != "setting" || spec.each.is_some());
    let mut named = Vec::new();
    let mut compile = |text: &String, at| {
        let report = |why| {
            let message = format!("this expression cannot be used: {why}");
            findings.push(invalid(object, at, &message));
        };
        let condition = Condition::compile(text, &variables, work).map_err(report).ok()?;
        let keys = condition.keys_of("effective").into_iter();
        named.extend(keys.map(|key| (at, key)));
        Some(condition)
    };
    let matches = spec.matches.as_ref().map(|text| compile(text, "/spec/match"));
    let assert = spec
        .assert
        .as_ref()
        .and_then(|text| compile(text, "/spec/assert"));
    named.extend(spec.each.iter().map(|name| ("/spec/each", name.clone())));
    let mut kinds = BTreeMap::new();
    for (at, name) in named {
        match policy_kind(&hub.kinds, &name) {
            Ok(kind) => {
                kinds.insert(name, kind);
            }
            Err(help) => {
                let message = format!("there is no kind `{name}` of policies");
                findings.push(invalid(object, at, &message).help(help));
            }
        }
    }
    let chosen = written.clusters.as_ref();
    let names = chosen.iter().flat_map(|clusters| clusters.names.iter().flatten());
    let unknown = names.filter(|(name, _)| !fleet.contains_key(name.as_str()));
    findings.extend(unknown.map(|(name, at)| {
        let message = format!("it names cluster `{name}`, which the input does not have");
        let help = did_you_mean(name, fleet.keys().copied());
        let help =
            help.unwrap_or_else(|| "correct the name, or add the ManagedCluster to the input".to_owned());
        invalid(object, at, &message).help(help)
    }));
    let chosen = chosen.filter(|_| work.pay(fleet.len(), STEPS_PER_CLUSTER));
    let clusters = chosen.map(|clusters| {
        let chosen = fleet.iter().filter(|(name, cluster)| {
            // A selector may choose a cluster whose labels are unknown.
            clusters.has_name(name) && (cluster.get("labels").is_none() || selects(clusters, cluster))
        });
        chosen.map(|(name, _)| *name).collect()
    });
    Some(Rule {
        object,
        each: spec.each.as_ref().and_then(|name| kinds.get(name).cloned()),
        matches: matches.map_or(Some(None), |matches| matches.map(Some))?,
        assert: assert?,
        clusters,
        kinds,
        written,
    })
}

fn invalid(rule: &Object, at: &str, message: &str) -> Finding {
    let message = format!("{RULE} {}: {message}", rule.name);
    Finding::new(Code::RULE_INVALID, rule.place(at), message)
}

/// The kind of policies that a rule names; or a help line. The key of `effective` has one spelling, with the group.
fn policy_kind(kinds: &KindTable, name: &str) -> Result<GroupKind, String> {
    let near = match kinds.policies(name) {
        Ok(meant) => match meant.iter().find(|kind| kind.to_string() == name) {
            Some(kind) => return Ok(kind.clone()),
            None => meant.first().map(ToString::to_string),
        },
        Err(near) => near,
    };
    Err(near.map_or_else(
        || {
            "write KIND.GROUP, as in `AuthPolicy.kuadrant.io`, and add the CRD if the kind is not built in"
                .to_owned()
        },
        |near| format!("did you mean `{near}`?"),
    ))
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
    /// The clusters of a place for which it is evaluated.
    fn chosen(&self, clusters: &ClusterNames, fleet: &Fleet<'_>) -> Vec<EvaluatedClusters> {
        let chosen = match &self.clusters {
            Some(chosen) => clusters
                .iter()
                .filter(|name| chosen.contains(&***name))
                .cloned()
                .collect(),
            None => Arc::clone(clusters),
        };
        // Without the variable, what is true of one cluster is true of all.
        if !self.has_variable("cluster") {
            return Vec::from_iter(Some((chosen, None)).filter(|(chosen, _)| !chosen.is_empty()));
        }
        let each = chosen.iter().map(|name| {
            let variable = fleet.get(&**name).map(Variable::from);
            (ClusterNames::from([Arc::clone(name)]), variable)
        });
        each.collect()
    }

    fn has_variable(&self, name: &str) -> bool {
        let matches = self.matches.iter();
        matches
            .chain([&self.assert])
            .any(|condition| condition.has_variable(name))
    }

    /// Whether it matches; an error is a violation, with the reason if an expression has no answer.
    fn judge(&self, variables: &[(&str, &Variable)], work: &Work) -> Result<bool, Option<String>> {
        let mut allowance = work.allowance(&self.object.value);
        let mut evaluate = |condition: &Condition, name: &str| {
            let answer = condition.evaluate(variables, &mut allowance);
            answer.map_err(|why| Some(format!("`{name}` has no answer: {why}")))
        };
        if let Some(matches) = &self.matches
            && !evaluate(matches, "match")?
        {
            return Ok(false);
        }
        evaluate(&self.assert, "assert")?.then_some(true).ok_or(None)
    }

    /// The tests that come out otherwise.
    fn failed_tests(&self, work: &Work) -> Vec<Finding> {
        let failed = self.written.spec.tests.items().filter_map(|(position, test)| {
            let (outcome, why) = match self.judge_test(test, work) {
                Ok(false) => (Expectation::NotMatched, None),
                Ok(true) => (Expectation::Satisfied, None),
                Err(why) => (Expectation::Violated, why),
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

    fn judge_test(&self, test: &Test, work: &Work) -> Result<bool, Option<String>> {
        let given = |name: &str| test.given.get(name);
        if let (Some(clusters), Some(cluster)) = (&self.written.clusters, given("cluster")) {
            let name = cluster.get("name").and_then(Value::as_str).unwrap_or_default();
            if !(clusters.has_name(name) && selects(clusters, cluster)) {
                return Ok(false);
            }
        }
        let variables = VARIABLES.map(|name| (name, given(name).map(Variable::from)));
        let variables = variables
            .iter()
            .filter_map(|(name, value)| Some((*name, value.as_ref()?)));
        self.judge(&variables.collect::<Vec<_>>(), work)
    }

    fn never_matches(&self) -> Finding {
        let subject = self.each.as_ref().map_or("path", |_| "setting in effect");
        let message = format!("{RULE} {} is about no {subject} of the fleet", self.object.name);
        let at = self.matches.as_ref().map_or("/metadata/name", |_| "/spec/match");
        let finding = Finding::new(Code::RULE_NEVER_MATCHES, self.object.place(at), message);
        finding.help("correct `match`, `each`, or `clusters`, or remove the rule")
    }

    fn violated(&self, violation: &RuleViolation, in_effect: &PoliciesByKind) -> Finding {
        let names = first_names(violation.clusters.iter(), MOST_NAMES);
        let demand = self.written.spec.message.as_deref().unwrap_or_default();
        let message = format!("{demand}: {} breaks it on {names}", violation.subject);
        let mut finding = Finding::new(Code::RULE_VIOLATED, violation.at.clone(), message)
            .severity(self.written.severity)
            .related(
                self.object.place("/spec/assert"),
                format!("{RULE} {}", self.object.name),
            );
        finding.data = Some(FindingData {
            rule: self.object.name.to_string(),
            clusters: Arc::clone(&violation.clusters),
        });
        if let Some(reason) = &violation.reason {
            finding = finding.note(format!("{reason}; what cannot be evaluated is a violation"));
        }
        for (kind, policies) in in_effect {
            finding = finding.note(if policies.is_empty() {
                format!("no {kind} is in effect there")
            } else {
                format!("{kind} in effect there: {}", first_names(policies, MOST_NAMES))
            });
        }
        if violation.paths > 1 {
            finding = finding.note(counted(violation.paths, "path"));
        }
        finding.help("correct the policies, or accept it with a reason: `suppress` in spokewright.yaml")
    }
}

/// The policies of each kind that a rule names.
type PoliciesByKind = BTreeMap<String, BTreeSet<String>>;

/// How often rules, by their numbers, say the same, and where.
type Judgments = BTreeMap<(usize, Verdict), Judgment>;

#[derive(Debug, Default)]
struct Judgment {
    /// Each path counts on every cluster.
    count: usize,
    /// The clusters; none if the rule is not about the path.
    clusters: ClassLists,
    /// The paths of a violation, of the clusters where it is on most.
    paths: BTreeSet<Path>,
    /// What is in effect where a rule is violated.
    in_effect: PoliciesByKind,
}

impl Judgment {
    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
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
struct Evaluation<'v> {
    /// The number of the place.
    number: usize,
    work: &'v Work,
    in_effect: &'v InEffect<'v>,
    /// The variable `effective`, by the results that it is made of.
    cache: HashMap<Vec<(KindId, *const Effective)>, Arc<Variable>>,
    judgments: Judgments,
}

/// A path, with what applies there.
struct EvaluatedPath<'v> {
    path: Path,
    in_effect: Vec<(KindId, &'v Arc<Effective>)>,
    /// The variables of these.
    variable: Variable,
    effective: Arc<Variable>,
}

/// A setting of a kind, with what a rule may read of it.
type Setting<'v> = (&'v str, &'v Leaf, Variable);

/// Clusters for which a rule is evaluated once, and the variable of the one cluster if the rule reads it.
type EvaluatedClusters = (ClusterNames, Option<Variable>);

impl<'v> Evaluation<'v> {
    fn run(&mut self, rules: &BTreeMap<usize, Rule<'_>>, chosen: &[Vec<EvaluatedClusters>]) {
        let evaluated = self.in_effect;
        for path in evaluated.paths() {
            let in_effect = evaluated.on(path);
            let on = EvaluatedPath {
                effective: self.effective(&in_effect),
                variable: Variable::from(&self.path(path)),
                path: *path,
                in_effect,
            };
            let mut settings: BTreeMap<&GroupKind, Vec<Option<Setting<'v>>>> = BTreeMap::new();
            for ((number, rule), chosen) in rules.iter().zip(chosen) {
                let settings: &[Option<Setting<'v>>] = match &rule.each {
                    Some(kind) => settings.entry(kind).or_insert_with(|| self.settings(kind, &on)),
                    None => &[None],
                };
                let evaluations = settings.len().max(1).saturating_mul(chosen.len());
                if !self.work.pay(evaluations, STEPS_PER_PATH) {
                    return;
                }
                for setting in settings {
                    for (position, clusters) in chosen.iter().enumerate() {
                        self.judge((*number, rule), &on, setting.as_ref(), (position, clusters));
                    }
                }
            }
        }
    }

    fn judge(
        &mut self,
        (number, rule): (usize, &Rule<'_>),
        on: &EvaluatedPath<'v>,
        setting: Option<&Setting<'v>>,
        (position, (clusters, cluster)): (usize, &EvaluatedClusters),
    ) {
        let mut variables = vec![("path", &on.variable), ("effective", &*on.effective)];
        variables.extend(setting.map(|(.., value)| ("setting", value)));
        variables.extend(cluster.iter().map(|cluster| ("cluster", cluster)));
        let verdict = rule.judge(&variables, self.work);
        let verdict = verdict.map_err(|reason| self.violation(&on.path, setting, reason));
        let mut judgment = Judgment {
            count: clusters.len(),
            in_effect: verdict
                .as_ref()
                .map_or_else(|_| self.policies(rule, on), |_| BTreeMap::new()),
            ..Judgment::default()
        };
        if verdict != Ok(false) {
            let list = (self.number, position);
            judgment.clusters.insert(list, Arc::clone(clusters));
        }
        let is_violated = verdict.is_err();
        let judgments = self.judgments.entry((number, verdict)).or_default();
        judgments.add(judgment);
        if is_violated {
            judgments.paths.insert(on.path);
        }
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
            let authors = self.authors(effective).into_iter();
            let fields = [
                ("policies", authors.map(name_of).collect()),
                ("open", profile.lets_everybody_in(&effective.content).into()),
            ];
            let spec = effective.spec(profile).map(|spec| ("spec", spec));
            let kind = format!("{}.{}", profile.kind, profile.group);
            (kind, fields.into_iter().chain(spec).collect::<Value>())
        });
        let variable = Arc::new(Variable::from(&fields.collect::<Value>()));
        self.cache.insert(key, Arc::clone(&variable));
        variable
    }

    /// The policies that a result comes from.
    fn authors(&self, effective: &Effective) -> Vec<&'v Object> {
        let attachments = self.in_effect.seen.attachments;
        let authors = effective.sources(attachments).into_iter();
        authors
            .map(|author| attachments.authored(author).object)
            .collect()
    }

    /// The results of a kind.
    fn results(&self, kind: &GroupKind, on: &EvaluatedPath<'v>) -> impl Iterator<Item = &'v Effective> {
        let results = on.in_effect.iter();
        let results = results.filter(|(id, _)| self.in_effect.profile(*id).group_kind() == *kind);
        results.map(|(_, effective)| &***effective)
    }

    /// The settings of a kind.
    fn settings(&self, kind: &GroupKind, on: &EvaluatedPath<'v>) -> Vec<Option<Setting<'v>>> {
        let settings = self
            .results(kind, on)
            .flat_map(|effective| effective.content.iter());
        let settings = settings.map(|(name, leaf)| {
            let (authored, pointer) = self.in_effect.seen.attachments.written_at(name, leaf);
            let fields = [
                ("name", Value::from(&**name)),
                ("policy", name_of(authored.object)),
                ("value", Value::clone(&leaf.value)),
            ];
            let overlay = overlaid(authored, &pointer);
            let overlay = overlay.map(|field| ("overlay", field.overlay.name.as_str().into()));
            let value: Value = fields.into_iter().chain(overlay).collect();
            Some((&**name, leaf, Variable::from(&value)))
        });
        settings.collect()
    }

    /// The policies in effect of each kind that a rule names.
    fn policies(&self, rule: &Rule<'_>, on: &EvaluatedPath<'v>) -> PoliciesByKind {
        if rule.each.is_some() {
            return BTreeMap::new();
        }
        let kinds = rule.kinds.iter().map(|(name, kind)| {
            let policies = self
                .results(kind, on)
                .flat_map(|effective| self.authors(effective));
            (name.clone(), policies.map(Object::key).collect())
        });
        kinds.collect()
    }

    fn violation(&self, path: &Path, setting: Option<&Setting<'v>>, reason: Option<String>) -> RuleViolation {
        let topology = &self.in_effect.seen.attachments.topology;
        let (object, subject, at) = if let Some((name, leaf, _)) = setting {
            let (authored, pointer) = self.in_effect.seen.attachments.written_at(name, leaf);
            let policy = authored.object.identity();
            let field = overlaid(authored, &pointer).map(|field| field.pointer.as_str());
            let at = authored.object.key_place(field.unwrap_or(&pointer));
            (policy.locator(), format!("`{name}` of {policy}"), at)
        } else if let Some(route) = path.route {
            let object = topology.routes.get(route).object;
            let route = object.identity();
            (route.locator(), route.to_string(), object.place("/metadata/name"))
        } else {
            let start = topology.identity(path.start.node());
            let listener = path.listener.map(|listener| topology.listeners.get(listener));
            let (subject, at) = match listener {
                Some(listener) => (
                    format!("listener {} of {start}", listener.name),
                    listener.owner.place(&format!("{}/name", listener.pointer)),
                ),
                None => (start.to_string(), Place::Run),
            };
            (start.locator(), subject, at)
        };
        RuleViolation {
            object,
            subject,
            reason,
            at,
            ..RuleViolation::default()
        }
    }

    /// The variable `path`.
    fn path(&self, path: &Path) -> Value {
        let topology = &self.in_effect.seen.attachments.topology;
        let mut fields: Vec<(&str, Value)> = Vec::new();
        if let Some(gateway) = path.gateway() {
            let object = topology.gateways.get(gateway).known_as();
            fields.push(("gateway", described(object, [])));
        }
        if let Some(listener) = path.listener.map(|listener| topology.listeners.get(listener)) {
            let members = [
                Some(("name", listener.name.into())),
                Some(("protocol", listener.protocol.into())),
                listener.port.map(|port| ("port", port.into())),
                listener.hostname.map(|hostname| ("hostname", hostname.into())),
            ];
            fields.push(("listener", members.into_iter().flatten().collect()));
        }
        if let Some(route) = path.route.map(|route| topology.routes.get(route)) {
            let hostnames = route.route.hostnames.iter();
            let hostnames = hostnames.map(|name| Value::from(name.as_str()));
            let more = [
                ("kind", Value::from(route.object.kind.as_str())),
                ("hostnames", hostnames.collect()),
            ];
            fields.push(("route", described(route.object, more)));
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
fn described<const N: usize>(object: &Object, more: [(&str, Value); N]) -> Value {
    let mut value = name_of(object);
    if let Value::Object(fields) = &mut value {
        fields.extend(["labels", "annotations"].map(|field| (field, member(object, field))));
        fields.extend(more);
    }
    value
}
