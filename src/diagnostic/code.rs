//! The stable list of finding codes: name, default severity, what it means.

use super::Severity;

/// A finding code, such as `policy/same-target`. Codes are stable: scripts and configurations name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(&'static str);

/// Declares every code once: constant, name, default severity, one line for the README and SARIF.
macro_rules! codes {
    ($($constant:ident $name:literal $severity:ident $summary:literal)+) => {
        impl Code {
            $(#[doc = $summary] pub const $constant: Code = Code($name);)+
        }

        /// Every code with its default severity and a one-line description, in the order of the names.
        pub const CODES: &[(Code, Severity, &str)] = &[$((Code::$constant, Severity::$severity, $summary)),+];
    };
}

codes! {
    CONFIG_INVALID "config/invalid" Error "The configuration file breaks its schema"
    CONFIG_UNKNOWN_FIELD "config/unknown-field" Error "The configuration file has a field that does not exist"
    EMPTY_NOTHING_RENDERED "empty/nothing-rendered" Error "Nothing would be rendered: Argo CD would delete everything"
    GATEWAY_CLASS_NOT_FOUND "gateway/class-not-found" Warning "A Gateway names a GatewayClass that is not in the input"
    GATEWAY_INVALID "gateway/invalid" Error "A Gateway breaks a rule of its kind"
    GATEWAY_NOT_PLACED "gateway/not-placed" Warning "A Gateway of ours has no placement label, so nobody receives it"
    INPUT_SYMLINK "input/symlink" Error "A symbolic link leaves the input"
    INPUT_UNREADABLE "input/unreadable" Error "An input file or directory cannot be read"
    OBJECT_DUPLICATE "object/duplicate" Error "Two objects have one identity"
    OBJECT_INVALID_NAME "object/invalid-name" Error "Kubernetes would refuse this name"
    OBJECT_NO_NAME "object/no-name" Error "An object has no metadata.name"
    OBJECT_NO_NAMESPACE "object/no-namespace" Error "A namespaced object names no namespace"
    OBJECT_SCHEMA "object/schema" Error "An object breaks the schema of its kind"
    OBJECT_UNKNOWN_FIELD "object/unknown-field" Error "An object has a field that its schema does not know"
    PARAMS_INVALID "params/invalid" Error "GatewayClass parameters cannot be used"
    PARAMS_RESOURCE "params/resource" Error "A resource to sync does not exist or is no policy"
    PARAMS_UNKNOWN_FIELD "params/unknown-field" Error "GatewayClass parameters have a field that does not exist"
    PLACEMENT_DIFFERS "placement/differs" Warning "PlacementDecisions and evaluation give different clusters"
    PLACEMENT_MISCONFIGURED "placement/misconfigured" Error "OCM's scheduler would call this Placement misconfigured"
    PLACEMENT_NEEDS_NOW "placement/needs-now" Error "A time decides this placement: pass --now"
    PLACEMENT_NO_CLUSTERS "placement/no-clusters" Warning "A placement selects no cluster"
    PLACEMENT_NOT_FOUND "placement/not-found" Error "Neither a Placement nor a PlacementDecision has this name"
    PLACEMENT_UNKNOWN_CLUSTER "placement/unknown-cluster" Warning "A decision names a cluster that has no ManagedCluster"
    POLICY_IGNORED_FIELD "policy/ignored-field" Warning "A policy has a field that its strategy ignores"
    POLICY_INVALID "policy/invalid" Error "A policy breaks a rule of its kind"
    POLICY_NOT_SYNCED "policy/not-synced" Warning "A policy targets a Gateway of ours, but nobody syncs its kind"
    POLICY_OVERRIDDEN "policy/overridden" Warning "No setting of this policy survives"
    POLICY_REF_NOT_PERMITTED "policy/ref-not-permitted" Error "A cross-namespace target needs a ReferenceGrant"
    POLICY_SAME_TARGET "policy/same-target" Warning "Two policies of one kind have one target"
    POLICY_TARGET_NOT_FOUND "policy/target-not-found" Error "A policy targets something that is not there"
    POLICY_TOO_MANY_ANCESTORS "policy/too-many-ancestors" Warning "A policy has more ancestors than a status can list (16)"
    POLICY_UNREACHABLE "policy/unreachable" Warning "No traffic passes a policy: its target is on no path from a Gateway"
    ROUTE_NOT_ALLOWED "route/not-allowed" Error "A listener on the spoke would refuse this route"
    ROUTE_PARENT_CYCLE "route/parent-cycle" Error "Routes are each other's parents: no path from a Gateway reaches them"
    ROUTE_PARENT_NOT_FOUND "route/parent-not-found" Warning "A route names a Gateway or listener that is not in the input"
    SECRET_ENCRYPTED "secret/encrypted" Error "A sops-encrypted object cannot be embedded in a ManifestWork"
    SECRET_NOT_FOUND "secret/not-found" Warning "A Secret to copy is not in the input"
    SECRET_NOT_RENDERED "secret/not-rendered" Warning "A Secret is expected on the spokes and not shipped"
    SECRET_REF_NOT_PERMITTED "secret/ref-not-permitted" Error "A cross-namespace Secret needs a ReferenceGrant"
    WORK_INVALID "work/invalid" Error "OCM would refuse this ManifestWork"
    WORK_NAME_TAKEN "work/name-taken" Error "Two hub objects would share one ManifestWork name"
    WORK_SUBSTITUTION "work/substitution" Warning "Flux would substitute inside this work: the guard annotation was set"
    WORK_TOO_LARGE "work/too-large" Error "A ManifestWork is larger than its limit"
    YAML_DUPLICATE_KEY "yaml/duplicate-key" Error "A mapping has one key twice"
    YAML_LIMIT "yaml/limit" Error "A document is deeper, larger or more aliased than allowed"
    YAML_SYNTAX "yaml/syntax" Error "A file is not YAML as Kubernetes reads it"
}

impl Code {
    /// The name, such as `yaml/syntax`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The code with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        CODES.iter().map(|(code, _, _)| *code).find(|code| code.0 == name)
    }

    /// Severity unless the configuration says otherwise.
    #[must_use]
    pub fn default_severity(self) -> Severity {
        CODES
            .iter()
            .find(|(code, _, _)| *code == self)
            .map_or(Severity::Error, |(_, severity, _)| *severity)
    }

    /// One line that says what the code means.
    #[must_use]
    pub fn summary(self) -> &'static str {
        CODES
            .iter()
            .find(|(code, _, _)| *code == self)
            .map_or("", |(_, _, summary)| *summary)
    }

    /// Whether `spokewright.yaml` may change the severity: not where the object could not even be read.
    #[must_use]
    pub fn is_configurable(self) -> bool {
        !["yaml/", "config/", "input/"]
            .iter()
            .any(|prefix| self.0.starts_with(prefix))
    }

    /// The exit status of an error with this code (design section 3): 4 for conflicts and placements that
    /// could not be resolved, 3 for everything else that is wrong with the input, 5 for what cannot be read.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        if self.0.starts_with("input/") || self.0.starts_with("output/") {
            5
        } else if self.0.starts_with("placement/")
            || self.0.starts_with("empty/")
            || self == Self::POLICY_SAME_TARGET
        {
            4
        } else {
            3
        }
    }
}
