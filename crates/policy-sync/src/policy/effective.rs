//! The settings that apply on a path, each with its source, and the settings of policies that do not, each with the
//! policies that override it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use apimachinery::Work;
use kube_json::Value;

use super::attachment::Attachments;
use super::merge::json_merge_patch::{above, starting_with, unflatten};
use super::merge::strategic_merge::MergedLists;
use super::model::{AuthoredId, Content, Layer, Leaf, PolicyId, Rule};
use super::products;
use super::profile::{MergeUnit, Open, Profile, SameTarget};
use crate::topology::{Level, Path};

/// The result of policies on one or more paths.
#[derive(Debug, Clone)]
pub struct Effective {
    /// The result, by rule id or JSON pointer; each leaf knows its source.
    pub content: Arc<Content>,
    /// The policies on the way with the level of each, least specific first, established first on a level.
    pub chain: Vec<(Level, PolicyId)>,
    /// How many steps from the start each of them first is on the way.
    pub(super) steps: HashMap<PolicyId, usize>,
    /// The settings that did not survive.
    pub losses: Vec<Loss>,
    /// Those of the chain that their controller refuses here: no setting of theirs takes effect.
    pub refused: BTreeSet<PolicyId>,
}

impl Effective {
    /// The policies that something of the result comes from, each once.
    pub fn sources(&self, attachments: &Attachments<'_>) -> BTreeSet<AuthoredId> {
        let content = self.content.iter();
        content
            .map(|(key, leaf)| attachments.author_of(key, leaf))
            .collect()
    }

    /// The result as a spec: unwrapped, without targets and strategy. `None` where policies add up.
    pub fn spec(&self, profile: &Profile) -> Option<Value> {
        let is_whole_policy = |leaf: &Leaf| leaf.at.is_empty();
        let adds_up = profile.same_target == SameTarget::AddUp || self.content.values().any(is_whole_policy);
        (!adds_up).then(|| unflatten(self.content.values()))
    }

    /// The rule by which one policy of this path displaced another.
    pub fn rule(&self, attachments: &Attachments<'_>, winner: AuthoredId, loser: AuthoredId) -> Option<Rule> {
        let step = |id: AuthoredId| self.steps.get(&id.policy);
        let levels = step(winner)?.cmp(step(loser)?);
        let is_local = |id: AuthoredId| attachments.policy(id.policy).local;
        // Whatever their age is: nothing that a local policy sets is shipped beside it
        // (docs/systems/policy-sync.md#local-policies-win).
        if levels.is_eq() && is_local(winner) && !is_local(loser) {
            return Some(Rule::SpokeLocal);
        }
        let may_prefer = attachments.profile(loser.policy).inheritance.is_some();
        let [winner, loser] = [winner, loser].map(|id| attachments.authored(id).standing());
        Some(Rule::between(levels, winner, loser, may_prefer))
    }
}

/// A path and the settings that apply there.
#[derive(Debug, Clone)]
pub struct PathEffective {
    /// The path.
    pub path: Path,
    /// The result; shared by all paths of a Gateway with the same policies on them.
    pub effective: Arc<Effective>,
}

/// The work for each further policy that a setting was lost to: every report names them, and a thousand may have lost to
/// each of a thousand.
const STEPS_PER_WINNER: u64 = 80;

/// A unit of a policy that does not apply on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The policy that it belongs to.
    pub policy: AuthoredId,
    /// Rule id or JSON pointer.
    pub key: Arc<str>,
    /// The policies that override it, sorted.
    pub by: Vec<AuthoredId>,
}

/// Whose took the place of what does not hold on a path. A thousand policies may have lost the same: what they ask for
/// is found once.
pub(super) struct Losses<'r> {
    profile: &'r Profile,
    content: &'r Content,
    kept: MergedLists<'r>,
    author_of: &'r dyn Fn(&str, &Leaf) -> AuthoredId,
    /// A policy that overrides all others even if it is empty.
    dictating: Option<AuthoredId>,
    everybody: BTreeSet<AuthoredId>,
    below: HashMap<Arc<str>, BTreeSet<AuthoredId>>,
    /// Everything that was noted.
    pub(super) noted: Vec<Loss>,
    work: &'r Work,
}

impl Loss {
    /// How many have its place, but for the first.
    pub(super) fn winners(&self) -> usize {
        self.by.len().saturating_sub(1)
    }
}

impl<'r> Losses<'r> {
    pub(super) fn new(
        profile: &'r Profile,
        content: &'r Content,
        author_of: &'r dyn Fn(&str, &Leaf) -> AuthoredId,
        dictating: Option<AuthoredId>,
        work: &'r Work,
    ) -> Self {
        Self {
            profile,
            content,
            kept: MergedLists::new(&profile.list_keys, content, author_of),
            author_of,
            dictating,
            everybody: content.iter().map(|(key, leaf)| author_of(key, leaf)).collect(),
            below: HashMap::new(),
            noted: Vec::new(),
            work,
        }
    }

    /// Notes what of a policy does not hold, and whose took its place: what is under the same name now, else all that
    /// holds there instead: a whole was dropped
    /// (fixtures/policy/40-rlp-three-levels-gateway-atomic-override-wins).
    pub(super) fn note(&mut self, id: AuthoredId, layers: &[Layer]) {
        let keys: BTreeSet<&Arc<str>> = layers.iter().flat_map(|layer| layer.content.keys()).collect();
        for key in keys {
            if self.work.is_spent() {
                return;
            }
            let by = match self.content.get(key).map(|leaf| (self.author_of)(key, leaf)) {
                Some(author) => (author != id).then(|| BTreeSet::from([author])),
                None => self.instead_of(id, key, layers),
            };
            let Some(mut by) = by else { continue };
            by.remove(&id);
            if by.is_empty() {
                by.extend(self.everybody.iter().filter(|other| **other != id));
            }
            if by.is_empty() {
                // An empty policy has no leaf to be recognized by, and yet overrides all others.
                by.extend(self.dictating.filter(|other| *other != id));
            }
            // A setting that nothing overrides is not lost: the route has no such setting.
            if by.is_empty() {
                continue;
            }
            let loss = Loss {
                policy: id,
                key: Arc::clone(key),
                by: by.into_iter().collect(),
            };
            self.work.pay(loss.winners(), STEPS_PER_WINNER);
            self.noted.push(loss);
        }
    }

    /// Whose is in the place of what holds nowhere under its name; `None`: nothing is lost.
    fn instead_of(
        &mut self,
        id: AuthoredId,
        key: &Arc<str>,
        layers: &[Layer],
    ) -> Option<BTreeSet<AuthoredId>> {
        // Rules have no fields that could live on below another name.
        if let MergeUnit::Rules(_) = self.profile.unit {
            return Some(BTreeSet::new());
        }
        let (content, author_of) = (self.content, self.author_of);
        let below = self.below.entry(Arc::clone(key)).or_insert_with(|| {
            let below = format!("{key}/");
            let below = starting_with(content, &below);
            below.map(|(key, leaf)| author_of(key, leaf)).collect()
        });
        // A field that was merged deeply lives on below its name.
        if let MergeUnit::Fields(_) = self.profile.unit {
            return (!below.contains(&id)).then(BTreeSet::new);
        }
        let own = || layers.iter().filter_map(|layer| layer.content.get(key));
        let list = own().next();
        if list.and_then(|list| self.kept.is_displaced(id, (key, list))) == Some(false) {
            return None;
        }
        // An empty mapping that others filled is there still: nothing is lost.
        if !below.is_empty() && own().all(|leaf| leaf.value.is_object()) {
            return None;
        }
        let mut by = below.clone();
        let above = above(key).filter_map(|above| content.get_key_value(above));
        by.extend(above.map(|(above, leaf)| author_of(above, leaf)));
        Some(by)
    }
}

impl Profile {
    /// Whether settings that apply together let everybody in. Empty settings do not: then there is no policy.
    pub fn lets_everybody_in(&self, content: &Content) -> bool {
        let has = |wanted: &String| {
            let (name, word) = match wanted.split_once('=') {
                Some((name, word)) => (name, Some(word)),
                None => (wanted.as_str(), None),
            };
            let mut settings = content.iter();
            settings.any(|(key, leaf)| is_there(name, key, &leaf.value, word))
        };
        let is_open = |open: &Open| open.with.iter().all(has) && !open.without.iter().any(has);
        let policies: Vec<&Value> = content.values().map(|leaf| &*leaf.value).collect();
        let is_open_to_product = || products::all().any(|product| product.lets_everybody_in(self, &policies));
        !content.is_empty() && (self.open.iter().any(is_open) || is_open_to_product())
    }
}

/// Whether a setting, or something in it, is what is wanted.
fn is_there(wanted: &str, key: &str, value: &Value, word: Option<&str>) -> bool {
    let is_word = |value: &Value| word.is_none_or(|word| value.as_str() == Some(word));
    let mut parts = wanted.split('/');
    let mut named = key.split('/');
    loop {
        match (parts.next(), named.next()) {
            (Some(part), Some(name)) if is_part(part, name) => {}
            // The setting is inside of what is wanted: something of that is there.
            (None, Some(_)) => return word.is_none(),
            (None, None) => return is_word(value),
            (Some(part), None) => {
                let found = value.get(part);
                let found = found.and_then(|found| parts.try_fold(found, |found, part| found.get(part)));
                return found.is_some_and(is_word);
            }
            (Some(_), Some(_)) => return false,
        }
    }
}

/// `*` stands for the rest of a part: `authentication#*`.
fn is_part(wanted: &str, name: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => wanted == name,
    }
}

#[cfg(test)]
mod tests {
    use kube_json::json;

    use super::*;

    fn is(wanted: &str, key: &str, value: &Value) -> bool {
        let (name, word) = match wanted.split_once('=') {
            Some((name, word)) => (name, Some(word)),
            None => (wanted, None),
        };
        is_there(name, key, value, word)
    }

    #[test]
    fn a_way_names_a_setting_or_what_is_in_it() {
        let anonymous = json!({"anonymous": {}});
        assert!(is(
            "authentication#*/anonymous",
            "authentication#public",
            &anonymous
        ));
        assert!(!is(
            "authentication#*/anonymous",
            "authentication#key",
            &json!({"apiKey": {}})
        ));
        assert!(!is("authentication#*/anonymous", "authorization#a", &anonymous));
        assert!(is("authorization#*", "authorization#a", &json!({})));
        assert!(is("/jwt", "/jwt/providers", &json!([])), "a field of it");
        assert!(!is("/jwt", "/jwtx", &json!([])));
        assert!(is(
            "/authorization/defaultAction=Allow",
            "/authorization/defaultAction",
            &json!("Allow")
        ));
        assert!(!is(
            "/authorization/defaultAction=Allow",
            "/authorization/defaultAction",
            &json!("Deny")
        ));
        assert!(!is(
            "/authorization/defaultAction=Allow",
            "/authorization/rules",
            &json!([])
        ));
    }
}
