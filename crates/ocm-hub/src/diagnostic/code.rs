//! The stable list of finding codes: name, default severity, meaning, and which of them a user may configure.

use std::fmt;

use super::did_you_mean;

/// Where the pages of the book are published.
const BOOK: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs");

/// How bad a finding is. An error stops anything from being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is written; exit status 3 or 4, depending on the code.
    Error,
    /// Reported; the run goes on.
    Warning,
}

impl Severity {
    /// The word in every output format: `error` or `warning`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// What passes over all findings need to know of a code.
#[derive(PartialEq)]
enum Property {
    /// It is a consequence of what is not in the input.
    Absence,
    /// It is about a mistake in an object by itself.
    Alone,
    /// It compares objects that were all read.
    Conclusion,
    /// The configuration cannot change its severity.
    Fixed,
}

/// Declares every code once: constant, name, default severity, properties, one line for the book and SARIF. Its page is in
/// `docs/reference/findings/<name>.md`, without which nothing compiles.
macro_rules! codes {
    ($($constant:ident $name:literal $severity:ident $($property:ident)* $summary:literal)+) => {
        /// A finding code, such as `policy/same-target`. Codes are stable: scripts and configurations name them.
        #[allow(non_camel_case_types)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $summary] $constant,)+
        }

        impl Code {
            /// The name, such as `yaml/syntax`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$constant => $name,)+
                }
            }

            /// Severity unless the configuration says otherwise.
            pub const fn default_severity(self) -> Severity {
                match self {
                    $(Self::$constant => Severity::$severity,)+
                }
            }

            /// One line that says what the code means.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$constant => $summary,)+
                }
            }

            const fn properties(self) -> &'static [Property] {
                match self {
                    $(Self::$constant => &[$(Property::$property),*],)+
                }
            }

            /// The page about the code, in Markdown: why it matters, an example, how to fix it, how to silence it.
            pub fn page(self) -> &'static str {
                match self {
                    $(Self::$constant => {
                        include_str!(concat!("../../../../docs/reference/findings/", $name, ".md"))
                    })+
                }
            }
        }

        /// Every code with its default severity and a one-line description, in the order of the names.
        pub const CODES: &[(Code, Severity, &str)] = &[$((Code::$constant, Severity::$severity, $summary)),+];
    };
}

codes! {
    CONFIG_ELSEWHERE "config/elsewhere" Error "A configuration is in another directory or file than the one that is read"
    CONFIG_INVALID "config/invalid" Error "The configuration file breaks its schema"
    CONFIG_UNKNOWN_FIELD "config/unknown-field" Error "The configuration file has a field that does not exist"
    // A change would lower it for itself.
    DIFF_OVER_BUDGET "diff/over-budget" Error Fixed "A change does more than its budget allows"
    EMPTY_NOTHING_RENDERED "empty/nothing-rendered" Error Fixed "Nothing would be rendered: Argo CD would delete everything"
    GATEWAY_CLASS_NOT_FOUND "gateway/class-not-found" Warning "A Gateway names a GatewayClass that is not in the input"
    GATEWAY_CLASS_NOT_OURS "gateway/class-not-ours" Error "A GatewayClass with Gateways to place has a controller that differs from ours by a typo"
    GATEWAY_INVALID "gateway/invalid" Error Alone "A Gateway or ListenerSet breaks a rule of its kind"
    GATEWAY_NOT_PLACED "gateway/not-placed" Warning "A Gateway of ours has no placement label, so no cluster receives it"
    GATEWAY_SAME_HOSTNAME "gateway/same-hostname" Warning "Two Gateways on one cluster have the same hostname, so DNS cannot tell them apart"
    INPUT_OUTSIDE "input/outside" Error "A symbolic link leaves the input: it would render what is not in Git"
    INPUT_TOO_COSTLY "input/too-costly" Error "A stage of the run would take more work than a run allows"
    INPUT_UNREADABLE "input/unreadable" Error "An input file or directory cannot be read"
    LISTENER_SET_CONFLICTED "listener-set/conflicted" Warning "A listener of a ListenerSet conflicts with one of the Gateway or of an earlier ListenerSet"
    LISTENER_SET_NOT_ALLOWED "listener-set/not-allowed" Error Conclusion "The Gateway on the spoke would refuse this ListenerSet"
    LISTENER_SET_NOT_ATTACHED "listener-set/not-attached" Warning Alone "A ListenerSet is not attached to any Gateway"
    OBJECT_DUPLICATE "object/duplicate" Error Alone Fixed "Two objects have the same identity"
    OBJECT_EMPTY_FILE "object/empty-file" Warning "A file of the input contains no object"
    OBJECT_INVALID_NAME "object/invalid-name" Error Alone Fixed "Kubernetes would refuse this name"
    OBJECT_KUSTOMIZED "object/kustomized" Warning "A kustomization changes objects that are rendered, and spokewright does not build it"
    OBJECT_METADATA_LEFT_OUT "object/metadata-left-out" Warning "A label or annotation is not written to a hub object: Kubernetes would refuse it"
    OBJECT_MOVED "object/moved" Warning "An object leaves its work for another, and the agents delete and recreate it"
    OBJECT_NO_NAME "object/no-name" Error Fixed "An object has no metadata.name"
    OBJECT_NO_NAMESPACE "object/no-namespace" Error Alone Fixed "A namespaced object has no namespace"
    OBJECT_NOT_SHIPPED "object/not-shipped" Warning Absence "An object goes nowhere: `resourcesToSync` chooses it in vain, or it is in a directory of CRDs"
    OBJECT_PLACEHOLDER "object/placeholder" Warning "A value is a placeholder that nobody replaced"
    OBJECT_SCHEMA "object/schema" Error Alone "An object breaks the schema of its kind"
    OBJECT_UNKNOWN_FIELD "object/unknown-field" Error Alone "An object has a field that its schema does not know"
    OBJECT_UNKNOWN_KIND "object/unknown-kind" Error Fixed "A kind has a typo, or this version does not know it, so nothing would read the object"
    OBJECT_UPDATE_REFUSED "object/update-refused" Error Conclusion "A cluster would refuse to update an object that it has"
    OBJECT_WITHDRAWN "object/withdrawn" Warning "An object that is still in the input leaves all clusters"
    OUTPUT_BUSY "output/busy" Error "Another run is writing into the output"
    OUTPUT_EDITED "output/edited" Error "A rendered file was edited by hand"
    OUTPUT_ELSEWHERE "output/elsewhere" Warning "The input contains an output tree that the configuration does not name"
    OUTPUT_FOREIGN "output/foreign" Error "A file that spokewright did not write is in the way of the output"
    OUTPUT_INVENTORY "output/inventory" Error "The inventory of the output cannot be trusted"
    OUTPUT_NOT_A_DIRECTORY "output/not-a-directory" Error "The output, or a directory in it, is something else"
    OUTPUT_NOT_A_FILE "output/not-a-file" Error "Something other than a file is in the way of the output"
    OUTPUT_OUTSIDE "output/outside" Error "The output is outside the repository, in `.git`, or new beside its configuration"
    OUTPUT_OVERLAPS_INPUT "output/overlaps-input" Error "The output directory contains the input, or is part of it"
    OUTPUT_SYMLINK "output/symlink" Error "The output, or something in it, is a symbolic link"
    OUTPUT_UNEXPECTED "output/unexpected" Error "The output contains something that spokewright did not write"
    OUTPUT_UNREADABLE "output/unreadable" Error "A file or directory of the output cannot be read"
    OUTPUT_UNWRITABLE "output/unwritable" Error "A file or directory of the output cannot be written or deleted"
    OVERLAY_CONFLICT "overlay/conflict" Error Fixed "Two overlays of one priority set a field of an object differently on a cluster"
    OVERLAY_INVALID "overlay/invalid" Error Fixed "A ClusterOverlay breaks a rule of its kind"
    OVERLAY_NO_EFFECT "overlay/no-effect" Warning "A ClusterOverlay changes nothing on a cluster"
    OVERLAY_NO_VALUE "overlay/no-value" Error Fixed "A cluster lacks a value that a ClusterOverlay fills in, or the value is of another type"
    OVERLAY_NOT_ALLOWED "overlay/not-allowed" Error Fixed "A ClusterOverlay would change which object something is, where it goes, or what it is attached to"
    OVERLAY_PATH_NOT_FOUND "overlay/path-not-found" Error "An object does not have the field that a ClusterOverlay changes"
    OVERLAY_TARGET_NOT_FOUND "overlay/target-not-found" Error Absence "A ClusterOverlay changes an object that is not in the input"
    OVERLAY_UNKNOWN_CLUSTER "overlay/unknown-cluster" Error "A ClusterOverlay names a cluster that is not in the input"
    OVERLAY_UNKNOWN_LABELS "overlay/unknown-labels" Error Fixed "A ClusterOverlay needs the labels of a cluster that has no ManagedCluster"
    PARAMS_INVALID "params/invalid" Error "GatewayClass parameters cannot be used"
    PARAMS_RESOURCE "params/resource" Error Absence "A resource to sync does not exist, or is neither a policy nor a route"
    PARAMS_UNKNOWN_FIELD "params/unknown-field" Error "GatewayClass parameters have a field that does not exist"
    PLACEMENT_DIFFERS "placement/differs" Warning Absence "PlacementDecisions and evaluation give different clusters"
    PLACEMENT_MISCONFIGURED "placement/misconfigured" Error "OCM's scheduler would call this Placement misconfigured"
    PLACEMENT_NEEDS_NOW "placement/needs-now" Error Fixed "The placement depends on the time: pass --now"
    PLACEMENT_NO_CLUSTERS "placement/no-clusters" Warning Absence "A placement selects no cluster"
    PLACEMENT_NO_GROUP "placement/no-group" Error "A rollout or `waves` needs decision groups that the Placement does not have"
    PLACEMENT_NOT_FOUND "placement/not-found" Error "Neither a Placement nor a PlacementDecision has this name"
    PLACEMENT_NOT_UNIFORM "placement/not-uniform" Error Conclusion Fixed "A ManifestWorkReplicaSet cannot contain objects that differ from cluster to cluster"
    PLACEMENT_ORDER_DEPENDENT "placement/order-dependent" Warning "The order in which OCM schedules Placements decides which clusters this one gets"
    PLACEMENT_UNKNOWN_CLUSTER "placement/unknown-cluster" Warning "A decision names a cluster that has no ManagedCluster"
    PLACEMENT_UNKNOWN_SET "placement/unknown-set" Warning "A label or a Placement names a cluster set with a typo"
    PLACEMENT_UNSETTLED "placement/unsettled" Warning "OCM would keep moving this Placement between clusters"
    POLICY_IGNORED_FIELD "policy/ignored-field" Warning "A policy has a field that its strategy ignores"
    POLICY_INVALID "policy/invalid" Error Alone "A policy breaks a rule of its kind"
    POLICY_KIND_NONCONFORMING "policy/kind-nonconforming" Warning "The CRD of a synced policy kind lacks fields that GEP-713 requires"
    POLICY_NO_EFFECT "policy/no-effect" Warning "A controller does not do what an accepted policy asks"
    POLICY_NOT_EVALUATED "policy/not-evaluated" Warning "A policy takes effect in a way that is not evaluated"
    POLICY_NOT_SYNCED "policy/not-synced" Warning "A policy is not shipped: no class syncs its kind, or its target stays on the hub"
    POLICY_OTHER_CLASS "policy/other-class" Warning "A policy of a synced kind affects only Gateways of other classes"
    POLICY_OTHER_VERSION "policy/other-version" Error "A policy does not have the version that its class syncs"
    POLICY_OVERRIDDEN "policy/overridden" Warning Absence "Other policies override every setting of a policy"
    POLICY_REF_NOT_PERMITTED "policy/ref-not-permitted" Error Absence Alone "A cross-namespace target needs a ReferenceGrant"
    POLICY_SAME_TARGET "policy/same-target" Warning "Two policies of one kind have the same target"
    POLICY_TARGET_NOT_FOUND "policy/target-not-found" Error Absence Alone "The target of a policy does not exist"
    POLICY_TOO_MANY_ANCESTORS "policy/too-many-ancestors" Warning "A policy has more ancestors than a status can list (16)"
    POLICY_UNDECIDED "policy/undecided" Error Conclusion Fixed "The result of policies with the same target would depend on which is created first"
    POLICY_UNKNOWN_KIND "policy/unknown-kind" Error "An object of an unknown kind targets a Gateway of ours: no cluster gets it"
    POLICY_UNREACHABLE "policy/unreachable" Warning Absence "A policy affects no traffic: its target is on no path from a Gateway"
    POLICY_UNUSED "policy/unused" Warning Absence "A policy affects no cluster: its targets are not placed"
    RBAC_NARROWED "rbac/narrowed" Error Conclusion "A cluster would lose the right to delete objects that it should remove"
    REFERENCE_NOT_PERMITTED "reference/not-permitted" Warning Absence "A shipped object refers to another namespace, and no ReferenceGrant permits it"
    REFERENCE_NOT_SHIPPED "reference/not-shipped" Warning Absence "A shipped object needs an object that is neither shipped nor known to live on its clusters"
    ROUTE_DELEGATED "route/delegated" Warning "A route delegates to other routes, which are not followed"
    ROUTE_INVALID "route/invalid" Error "A route breaks a rule of its kind"
    ROUTE_NOT_ALLOWED "route/not-allowed" Error Conclusion "A listener on the spoke would refuse this route"
    ROUTE_NOT_ATTACHED "route/not-attached" Warning Absence "No listener accepts a route of a synced kind, so it is not shipped"
    ROUTE_PARENT_CYCLE "route/parent-cycle" Error "Routes are each other's parents: no path from a Gateway reaches them"
    ROUTE_PARENT_NOT_FOUND "route/parent-not-found" Warning Alone "A route names a Gateway, ListenerSet, or listener that is not in the input"
    ROUTE_REDIRECTS_TO_ITSELF "route/redirects-to-itself" Warning "A redirect leads back to the request that it answers"
    ROUTE_SHADOWED "route/shadowed" Warning "Another route or rule gets all requests of a match"
    RULE_INVALID "rule/invalid" Error Fixed "A FleetRule cannot be evaluated"
    RULE_NEVER_MATCHES "rule/never-matches" Warning Absence "A FleetRule is about nothing in the input"
    RULE_TEST_FAILED "rule/test-failed" Error Fixed "A FleetRule says something else of an example than its test expects"
    RULE_TOO_MANY "rule/too-many" Error Fixed "Evaluating the FleetRules takes more work than a run allows"
    RULE_VIOLATED "rule/violated" Error Conclusion "Settings in effect break a FleetRule"
    SECRET_ENCRYPTED "secret/encrypted" Error Conclusion "A sops-encrypted object cannot be embedded in a ManifestWork"
    SECRET_NOT_FOUND "secret/not-found" Warning Absence "A Secret to copy is not in the input"
    SECRET_NOT_RENDERED "secret/not-rendered" Warning Absence "A Secret is expected on the spokes, but it is not shipped"
    SECRET_PLAIN "secret/plain" Warning "The input contains an unencrypted Secret"
    SECRET_REF_NOT_PERMITTED "secret/ref-not-permitted" Error Absence "A cross-namespace Secret needs a ReferenceGrant"
    SECRET_STRING_DATA "secret/string-data" Warning "A Secret is shipped with stringData, which no cluster keeps"
    SPOKE_NAME_TAKEN "spoke/name-taken" Error Conclusion "A shipped object would overwrite one that already lives on a cluster"
    SPOKE_UNKNOWN_CLUSTER "spoke/unknown-cluster" Warning Absence "A directory of local objects is not named after a known cluster"
    SUPPRESSION_INVALID "suppression/invalid" Warning "A suppression has no effect: it has no reason, or its code cannot be suppressed"
    SUPPRESSION_UNUSED "suppression/unused" Warning "A suppression suppresses nothing"
    WORK_INVALID "work/invalid" Error Conclusion Fixed "OCM would refuse this ManifestWork"
    WORK_NAME_TAKEN "work/name-taken" Error Conclusion Fixed "Two hub objects would share one ManifestWork name"
    WORK_SUBSTITUTION "work/substitution" Warning "Flux would substitute inside this work: the guard annotation was set"
    WORK_TOO_LARGE "work/too-large" Error Conclusion "A ManifestWork is larger than its limit"
    YAML_DROPPED_TEXT "yaml/dropped-text" Error "Kubernetes would silently drop this text"
    YAML_DUPLICATE_KEY "yaml/duplicate-key" Error "A mapping has the same key twice"
    YAML_LIMIT "yaml/limit" Error "A document is deeper, larger, or more aliased than allowed"
    YAML_MERGE "yaml/merge" Error "A merge key is misplaced or conflicts with another key"
    YAML_SYNTAX "yaml/syntax" Error "A file is not YAML as Kubernetes reads it"
}

impl Code {
    /// The code with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut codes = CODES.iter().map(|(code, ..)| *code);
        codes.find(|code| code.name() == name)
    }

    /// The help for a name that no code has.
    pub fn did_you_mean(name: &str) -> Option<String> {
        did_you_mean(name, CODES.iter().map(|(code, _, _)| code.name()))
    }

    /// Whether `spokewright.yaml` may change the severity. Not where the run has no defined result without the
    /// error: what could not be read or written, parameters that cannot be used, identities and names that
    /// would be ambiguous or unsafe in a path, works that cannot exist side by side, a placement that no time
    /// decides; nor for an empty result, which is meant for one run (`--allow-empty`) and never for good.
    pub fn is_configurable(self) -> bool {
        const FIXED_GROUPS: [&str; 5] = ["config", "input", "output", "params", "yaml"];
        // A warning about what this run has no part in.
        let is_elsewhere = self == Code::OUTPUT_ELSEWHERE;
        is_elsewhere || (!FIXED_GROUPS.contains(&self.group()) && !self.has(Property::Fixed))
    }

    fn has(self, property: Property) -> bool {
        self.properties().contains(&property)
    }

    /// Whether it says no more than that a value is none that its field takes.
    pub(super) fn is_about_shape(self) -> bool {
        [Self::OBJECT_SCHEMA, Self::POLICY_IGNORED_FIELD].contains(&self)
    }

    /// Whether it says that a field does not exist.
    pub(super) fn is_unknown_field(self) -> bool {
        self.name().ends_with("/unknown-field")
    }

    /// Whether it says what is wrong with an object by what its kind means.
    pub(super) fn is_about_meaning(self) -> bool {
        self.name().ends_with("/invalid")
    }

    /// Whether it compares objects that were all read: it does not explain another finding.
    pub fn is_conclusion(self) -> bool {
        self.has(Property::Conclusion)
    }

    /// Whether it is a consequence of what is not in the input, which may be wrong where a part of the input was not read.
    pub(super) fn is_about_absence(self) -> bool {
        self.has(Property::Absence)
    }

    /// Whether it is about a mistake in an object by itself. Findings of a later stage about the objects that it uses are
    /// not.
    pub fn is_about_object_alone(self) -> bool {
        self.has(Property::Alone)
    }

    /// Warnings that say why nothing is placed, the cause first. If nothing is rendered, the first is a part of that
    /// error.
    pub const UNPLACED: [Self; 4] = [
        Self::PLACEMENT_MISCONFIGURED,
        Self::PLACEMENT_UNKNOWN_SET,
        Self::PLACEMENT_NO_CLUSTERS,
        Self::GATEWAY_NOT_PLACED,
    ];

    /// The address of its [page](Self::page).
    pub(super) fn address(self) -> String {
        format!("{BOOK}/reference/findings/{}.md", self.name())
    }

    /// Its [page](Self::page) without the title, for readers outside the book: links are absolute.
    pub(super) fn markdown(self) -> String {
        let page = self.page();
        let below_title = page.split_once('\n').map_or(page, |(_, rest)| rest.trim_start());
        below_title
            .replace("](../../../", &format!("]({BOOK}/"))
            .replace("](../../", &format!("]({BOOK}/reference/"))
    }

    /// The part before the slash: `policy`.
    pub fn group(self) -> &'static str {
        let name = self.name();
        name.split_once('/').map_or(name, |(group, _)| group)
    }

    /// Exit status: the input has errors (docs/reference/exit-statuses.md).
    pub const EXIT_INVALID: u8 = 3;
    /// Exit status: a conflict or a placement could not be resolved.
    pub const EXIT_UNRESOLVED: u8 = 4;
    /// Exit status: reading or writing failed.
    pub const EXIT_FAILED: u8 = 5;

    /// The exit status of an error with this code, also if it is a warning that `--deny warnings` made an error
    /// (docs/reference/exit-statuses.md).
    pub fn exit_status(self) -> u8 {
        match self.group() {
            _ if [
                Self::DIFF_OVER_BUDGET,
                Self::OVERLAY_CONFLICT,
                Self::POLICY_SAME_TARGET,
                Self::POLICY_UNDECIDED,
            ]
            .contains(&self) =>
            {
                Self::EXIT_UNRESOLVED
            }
            "input" | "output" if self != Self::INPUT_TOO_COSTLY => Self::EXIT_FAILED,
            "placement" | "empty" => Self::EXIT_UNRESOLVED,
            _ => Self::EXIT_INVALID,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_by_name_and_unique() {
        for pair in CODES.windows(2) {
            assert!(
                pair[0].0.name() < pair[1].0.name(),
                "{} {}",
                pair[0].0.name(),
                pair[1].0.name()
            );
        }
    }

    #[test]
    fn every_code_has_a_group_a_name_and_a_summary_on_one_line() {
        let plain = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        };
        for (code, severity, summary) in CODES {
            let (group, rest) = code.name().split_once('/').expect("a group");
            assert!(plain(group) && plain(rest), "{}", code.name());
            assert_eq!(group, code.group());
            assert!(
                summary.len() > 10 && !summary.ends_with('.') && !summary.contains('\n'),
                "{summary}"
            );
            assert_eq!((code.default_severity(), code.summary()), (*severity, *summary));
            assert_eq!(Code::from_name(code.name()), Some(*code));
        }
        assert_eq!(Code::from_name("policy/none"), None);
    }

    #[test]
    fn outside_of_the_book_a_page_has_no_relative_link() {
        for (code, ..) in CODES {
            let text = code.markdown();
            assert!(!text.starts_with('#') && text.len() > 100, "{text}");
            assert!(!text.contains("](.."), "{}: {text}", code.name());
            assert!(code.address().starts_with("https://") && code.address().contains(code.name()));
        }
        assert!(
            Code::POLICY_SAME_TARGET
                .markdown()
                .contains(&format!("({BOOK}/reference/findings.md#suppressions)"))
        );
    }

    #[test]
    fn exit_statuses_follow_the_design() {
        for (code, _, _) in CODES {
            let expected = match code.name() {
                name if name.starts_with("placement/") || name.starts_with("empty/") => 4,
                "diff/over-budget" | "overlay/conflict" | "policy/same-target" | "policy/undecided" => 4,
                // It was read, and asks for too much.
                "input/too-costly" => 3,
                name if name.starts_with("input/") || name.starts_with("output/") => 5,
                _ => 3,
            };
            assert_eq!(code.exit_status(), expected, "{}", code.name());
        }
    }

    #[test]
    fn an_error_without_which_the_run_has_no_result_is_not_configurable() {
        for name in [
            "yaml/syntax",
            "config/invalid",
            "input/unreadable",
            "output/edited",
            "object/invalid-name",
            "empty/nothing-rendered",
        ] {
            assert!(!Code::from_name(name).unwrap().is_configurable(), "{name}");
        }
        for name in ["policy/target-not-found", "secret/not-rendered", "object/schema"] {
            assert!(Code::from_name(name).unwrap().is_configurable(), "{name}");
        }
        for (code, severity, _) in CODES {
            assert!(
                *severity == Severity::Error || code.is_configurable(),
                "{}",
                code.name()
            );
        }
    }
}
