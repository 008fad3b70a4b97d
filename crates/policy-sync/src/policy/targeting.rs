//! Which targets a policy kind may name, and the source of that rule: its CRD, its controller, or its documentation.

use std::collections::BTreeSet;

use apimachinery::GroupKind;

use super::products;
use super::products::{Evidence, KnownTargets};
use crate::api::gateway::GROUP;
use crate::api::route::is_route;
use crate::api::targeting;
use crate::api::targeting::{ANY, AcceptedKinds, AllowedTarget, TargetField};

/// The targets that a kind's policies may name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Targeting {
    /// The targets according to the CRD of the kind, or according to its profile if there is no CRD.
    pub definition: targeting::Targeting,
    origin: TargetingSource,
}

/// The source of the rule about which targets a kind may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TargetingSource {
    /// Nobody.
    #[default]
    Nobody,
    /// The configuration of the run.
    Configuration,
    /// The definition in the input.
    Definition,
    /// The definition of a release, in the catalog.
    Catalog(&'static str),
    /// No definition; the controller, or its documentation.
    Known(&'static KnownTargets),
}

/// The finding about a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may be named.
    Accepted {
        /// Whether `sectionName` may be used.
        sections: bool,
        /// Whether a list has it; otherwise, nothing forbids it.
        is_listed: bool,
    },
    /// It may not.
    Refused,
}

impl Targeting {
    /// The answer of one definition, and the documented targets, which apply if the definition accepts any kind.
    pub(super) fn new(
        definition: Option<(targeting::Targeting, TargetingSource)>,
        known: Option<&'static KnownTargets>,
    ) -> Self {
        let (mut definition, mut origin) = definition.unwrap_or_else(|| {
            let fields: &[TargetField] = match known.map(|known| &known.evidence) {
                Some(Evidence::Unreleased(fields)) => fields,
                Some(Evidence::Controller(_) | Evidence::Documentation) | None => &TargetField::ALL,
            };
            let said = targeting::Targeting {
                fields: fields.to_vec(),
                is_required: true,
                has_sections: true,
                ..targeting::Targeting::default()
            };
            (said, TargetingSource::Nobody)
        });
        // What a CRD restricts, its API server enforces: documentation adds nothing to that.
        if let Some(known) = known.filter(|_| !definition.named.is_restricted) {
            definition.named = known.taken(definition.has_sections);
            definition.selected = definition.named.clone();
            origin = TargetingSource::Known(known);
        }
        Self { definition, origin }
    }

    /// A field without any statement.
    pub(super) fn unknown() -> Self {
        Self::new(None, None)
    }

    /// The same, where what an older release of the definition lists is taken, and others may be, too.
    pub(super) fn with_known(mut self, older: targeting::Targeting) -> Self {
        self.definition.named.kinds = older.named.kinds;
        self.definition.selected.kinds = older.selected.kinds;
        self.definition.named.is_restricted = false;
        self.definition.selected.is_restricted = false;
        self
    }

    /// The same, with what the configuration of the run says instead.
    pub(super) fn configured(
        &self,
        fields: Option<Vec<TargetField>>,
        kinds: Option<Vec<AllowedTarget>>,
    ) -> Self {
        let mut configured = self.clone();
        // Every kind has some field for its targets.
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            configured.definition.fields = fields;
        }
        if let Some(kinds) = kinds {
            let taken = AcceptedKinds {
                is_restricted: !kinds.is_empty(),
                kinds,
            };
            configured.definition.selected = taken.clone();
            configured.definition.named = taken;
            configured.origin = TargetingSource::Configuration;
        }
        configured
    }

    /// What is reported about a reference to this kind. `core` is the group of kinds that have none.
    pub fn judge(&self, group: &str, kind: &str) -> Verdict {
        self.judge_by(&self.definition.named, group, kind)
    }

    /// The same of a selector.
    pub(super) fn judge_selector(&self, group: &str, kind: &str) -> Verdict {
        self.judge_by(&self.definition.selected, group, kind)
    }

    fn judge_by(&self, accepted: &AcceptedKinds, group: &str, kind: &str) -> Verdict {
        match accepted.kinds.iter().find(|target| target.is(group, kind)) {
            Some(target) => Verdict::Accepted {
                sections: target.sections,
                is_listed: true,
            },
            None if accepted.is_restricted => Verdict::Refused,
            None => Verdict::Accepted {
                sections: self.definition.has_sections,
                is_listed: accepted.kinds.is_empty(),
            },
        }
    }

    /// Whether traffic through routes of this kind is any business of the policy kind: where route kinds are listed
    /// among its targets, only those.
    pub(crate) fn concerns_route(&self, kind: &str) -> bool {
        let routes = self.definition.named.kinds.iter().filter(|target| {
            let group = match target.group.as_str() {
                ANY => GROUP,
                group => group,
            };
            is_route(group, &target.kind)
        });
        let mut routes = routes.peekable();
        // A kind that lists no route is for Gateways or backends, and so about the traffic of all routes.
        routes.peek().is_none() || routes.any(|target| target.kind == kind)
    }

    /// The kinds by name, each once, for a help line: `Gateway, HTTPRoute`.
    pub(crate) fn kind_names(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let named = self.definition.named.kinds.iter();
        let names = named.map(|target| target.kind.as_str());
        names.filter(|name| *name != ANY && seen.insert(*name)).collect()
    }

    /// Whether no work ever has anything that a policy of the kind may target.
    pub(crate) fn is_never_shipped(&self) -> bool {
        let stays = |target: &AllowedTarget| target.is(GROUP, "GatewayClass") || target.is("", "Pod");
        let taken = [&self.definition.named, &self.definition.selected];
        let mut kinds = taken.iter().flat_map(|taken| &taken.kinds);
        taken.iter().all(|taken| taken.is_restricted) && kinds.all(|kind| kind.kind != ANY && stays(kind))
    }

    /// The groups of the kinds of this name.
    pub(super) fn groups_of(&self, kind: &str) -> impl Iterator<Item = &str> {
        let named = self.definition.named.kinds.iter();
        let groups = named.filter(move |target| target.kind == kind && target.group != ANY);
        groups.map(|target| target.group.as_str())
    }

    /// Where the answer about a target comes from, as a note.
    pub(super) fn note(&self, group: &str, kind: &str) -> Option<String> {
        match self.origin {
            TargetingSource::Nobody | TargetingSource::Definition => None,
            TargetingSource::Configuration => Some("according to `profiles` in the configuration".to_owned()),
            TargetingSource::Catalog(product) => Some(format!(
                "as of {product}; add your own CRD to the input to check against it"
            )),
            TargetingSource::Known(known) => Some(known.note(group, kind)),
        }
    }
}

/// The documented targets of a kind.
pub(super) fn known_targets(kind: &GroupKind) -> Option<&'static KnownTargets> {
    let is_it =
        |known: &&KnownTargets| known.group == kind.group && known.kinds.contains(&kind.kind.as_str());
    products::known_targets().find(is_it)
}

impl KnownTargets {
    /// The targets; sections only where the definition has any.
    pub(super) fn taken(&self, has_sections: bool) -> AcceptedKinds {
        let kinds = self.targets.iter().cloned().map(|target| AllowedTarget {
            sections: target.sections && has_sections,
            ..target
        });
        AcceptedKinds {
            kinds: kinds.collect(),
            is_restricted: !matches!(self.evidence, Evidence::Documentation),
        }
    }

    /// What is reported where a target is not one of these, and where that is.
    pub(super) fn note(&self, group: &str, kind: &str) -> String {
        let source = self.source;
        match &self.evidence {
            Evidence::Controller(words) => {
                let words = words.replace("GROUP", group).replace("KIND", kind);
                format!("its controller would report: {words} ({source})")
            }
            Evidence::Unreleased(_) => format!(
                "as of {source}, which is not released; add your own CRD to the input to check against it"
            ),
            Evidence::Documentation => {
                let kinds: Vec<&str> = self.targets.iter().map(|target| target.kind.as_str()).collect();
                let kinds = kinds.join(", ");
                format!("documented targets are: {kinds}; others depend on the controller ({source})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use apimachinery::GroupKind;

    use super::known_targets;
    use super::*;

    fn target(group: &str, kind: &str) -> AllowedTarget {
        AllowedTarget {
            group: group.to_owned(),
            kind: kind.to_owned(),
            sections: false,
        }
    }

    /// A definition that takes these targets and no others.
    fn defined(named: &[(&str, &str)], selected: &[(&str, &str)]) -> targeting::Targeting {
        let taken = |kinds: &[(&str, &str)]| AcceptedKinds {
            kinds: kinds.iter().map(|(group, kind)| target(group, kind)).collect(),
            is_restricted: true,
        };
        targeting::Targeting {
            named: taken(named),
            selected: taken(selected),
            ..targeting::Targeting::default()
        }
    }

    fn targeting(named: &[(&str, &str)]) -> Targeting {
        Targeting::new(Some((defined(named, named), TargetingSource::Definition)), None)
    }

    fn taken(sections: bool, is_listed: bool) -> Verdict {
        Verdict::Accepted { sections, is_listed }
    }

    #[test]
    fn what_an_older_release_lists_is_taken_and_so_is_everything_else() {
        let older = defined(&[(GROUP, "Gateway")], &[(GROUP, "HTTPRoute")]);
        let open = Targeting::unknown().with_known(older);
        assert_eq!(open.judge(GROUP, "Gateway"), taken(false, true));
        assert_eq!(
            open.judge(GROUP, "HTTPRoute"),
            taken(true, false),
            "not a selector"
        );
        assert_eq!(open.judge_selector(GROUP, "HTTPRoute"), taken(false, true));
        assert_eq!(open.judge_selector("example.com", "Other"), taken(true, false));
    }

    #[test]
    fn the_configuration_replaces_what_it_names_and_nothing_else() {
        let known = Targeting::unknown();
        assert_eq!(known.configured(None, None), known);
        let kinds = known.configured(None, Some(vec![target(GROUP, "Gateway")]));
        assert_eq!(kinds.judge(GROUP, "HTTPRoute"), Verdict::Refused);
        assert_eq!(kinds.judge_selector(GROUP, "HTTPRoute"), Verdict::Refused);
        assert_eq!(
            (&kinds.definition.fields, kinds.definition.is_required),
            (&known.definition.fields, true)
        );
        let fields = known.configured(Some(vec![TargetField::TargetRef]), None);
        assert_eq!(fields.definition.fields, [TargetField::TargetRef]);
        assert_eq!(fields.judge(GROUP, "HTTPRoute"), taken(true, true));
    }

    #[test]
    fn a_target_that_no_list_has_may_name_a_section_if_the_definition_has_any_or_there_is_none() {
        let anything = targeting::Targeting::default();
        for has_sections in [true, false] {
            let definition = targeting::Targeting {
                has_sections,
                ..anything.clone()
            };
            let targeting = Targeting::new(Some((definition, TargetingSource::Definition)), None);
            assert_eq!(targeting.judge("example.com", "Thing"), taken(has_sections, true));
        }
        assert_eq!(
            Targeting::unknown().judge("example.com", "Thing"),
            taken(true, true)
        );
    }

    #[test]
    fn a_documented_target_has_sections_only_if_it_is_documented_and_the_definition_has_them() {
        let known = known_targets(&GroupKind::new(
            "gateway.networking.x-k8s.io",
            "XBackendTrafficPolicy",
        ))
        .unwrap();
        let sections = |has_sections: bool| {
            let kinds = known.taken(has_sections).kinds.into_iter();
            kinds
                .filter(|target| target.sections)
                .map(|target| target.kind)
                .collect::<Vec<_>>()
        };
        assert_eq!(sections(true), ["Service"]);
        assert!(sections(false).is_empty());
    }

    #[test]
    fn a_kind_concerns_the_routes_that_it_lists_or_all_if_it_lists_none() {
        let some = targeting(&[(GROUP, "Gateway"), (GROUP, "HTTPRoute"), (ANY, "GRPCRoute")]);
        let concerned = |targeting: &Targeting| {
            let mut kinds = vec!["HTTPRoute", "GRPCRoute", "TCPRoute"];
            kinds.retain(|kind| targeting.concerns_route(kind));
            kinds
        };
        assert_eq!(concerned(&some), ["HTTPRoute", "GRPCRoute"]);
        let none = targeting(&[(GROUP, "Gateway"), ("example.com", "TCPRoute")]);
        assert_eq!(concerned(&none), ["HTTPRoute", "GRPCRoute", "TCPRoute"]);
    }

    #[test]
    fn a_help_line_names_each_kind_once_and_no_wildcard() {
        let named = [
            (GROUP, "Gateway"),
            ("example.com", "Gateway"),
            ("example.com", ANY),
            (GROUP, "HTTPRoute"),
        ];
        assert_eq!(targeting(&named).kind_names(), ["Gateway", "HTTPRoute"]);
    }
}
