//! The identity of an object: group, version, kind, namespace, name. Also how Kubernetes and reports print it, and how
//! people write it ([`named_parts`]).

use std::collections::BTreeSet;
use std::fmt;

use kube_json::Text;

/// Group and version as in `apiVersion`. The core group is `""`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiVersion {
    /// API group, `""` for core.
    pub group: Text,
    /// Version, such as `v1`.
    pub version: Text,
}

impl ApiVersion {
    /// Splits an `apiVersion` at its slash.
    ///
    /// ```
    /// use apimachinery::ApiVersion;
    /// let core = ApiVersion::parse("v1");
    /// assert_eq!((core.group.as_str(), core.version.as_str()), ("", "v1"));
    /// ```
    pub fn parse(text: &str) -> Self {
        match text.rsplit_once('/') {
            Some((group, version)) => Self {
                group: group.into(),
                version: version.into(),
            },
            None => Self {
                group: Text::new(),
                version: text.into(),
            },
        }
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            formatter.write_str(&self.version)
        } else {
            write!(formatter, "{}/{}", self.group, self.version)
        }
    }
}

/// The group of a reference: some authors write `core` for the empty group of the core kinds.
pub fn core_group(group: &str) -> &str {
    if group == "core" { "" } else { group }
}

/// Group and kind: how policies, references and profiles name a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// API group, `""` for core.
    pub group: Text,
    /// Kind, such as `Gateway`.
    pub kind: Text,
}

impl GroupKind {
    /// From its two halves.
    pub fn new(group: impl Into<Text>, kind: impl Into<Text>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }
}

impl fmt::Display for GroupKind {
    /// `Kind.group`, or just `Kind` for core, as Kubernetes prints it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            formatter.write_str(&self.kind)
        } else {
            write!(formatter, "{}.{}", self.kind, self.group)
        }
    }
}

/// The key that must be unique in the input. Orders by group, kind, namespace, name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Group and kind.
    pub group_kind: GroupKind,
    /// Namespace, `None` for cluster-scoped objects.
    pub namespace: Option<Text>,
    /// Name.
    pub name: Text,
}

impl Identity {
    /// From its parts.
    pub fn new(group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Self {
        Self {
            group_kind: GroupKind::new(group, kind),
            namespace: namespace.map(Text::from),
            name: name.into(),
        }
    }

    /// The locator of reports (docs/reference/json.md): `<kind lower case>.<group>:<namespace>/<name>`, without the
    /// namespace part if there is none, and without the group for core. [`named_parts`] reads it, [`Locators`] shortens it.
    ///
    /// ```
    /// use apimachinery::Identity;
    /// let policy = Identity::new("kuadrant.io", "RateLimitPolicy", Some("infra"), "global");
    /// assert_eq!(policy.locator(), "ratelimitpolicy.kuadrant.io:infra/global");
    /// ```
    pub fn locator(&self) -> String {
        let GroupKind { group, kind } = &self.group_kind;
        let mut locator = kind.as_str().to_lowercase();
        if !group.is_empty() {
            locator.push('.');
            locator.push_str(group);
        }
        locator.push(':');
        locator.push_str(&self.key());
        locator
    }

    /// `namespace/name`, or just `name` of a cluster-scoped object.
    pub fn key(&self) -> String {
        match &self.namespace {
            Some(namespace) => [namespace, "/", self.name.as_str()].concat(),
            None => self.name.to_string(),
        }
    }
}

impl fmt::Display for Identity {
    /// For people: `Gateway gateways/prod-web`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.group_kind.kind, self.key())
    }
}

/// `namespace/name`; the name alone where the namespace is empty.
pub fn key(namespace: &str, name: &str) -> String {
    let slash = if namespace.is_empty() { "" } else { "/" };
    [namespace, slash, name].concat()
}

/// Kind, namespace, and name of an object, as people and reports write it: `KIND/NAME`, `KIND/NAMESPACE/NAME`,
/// `KIND NAMESPACE/NAME`, or a locator. Any spelling of the kind is returned as it is; a section, as in
/// `gateway/shop/web#https`, is left out.
///
/// ```
/// use apimachinery::{Identity, named_parts};
/// let policy = Identity::new("kuadrant.io", "RateLimitPolicy", Some("infra"), "global");
/// for text in [policy.locator(), policy.to_string(), "rlp/infra/global#web".to_owned()] {
///     let (_, namespace, name) = named_parts(&text).unwrap();
///     assert_eq!((namespace, name), (Some("infra"), "global"));
/// }
/// assert_eq!(named_parts("global"), None);
/// ```
pub fn named_parts(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let (kind, rest) = text.split('#').next()?.split_once(['/', ' ', ':'])?;
    let parts = match rest.split_once('/') {
        Some((namespace, name)) => (kind, Some(namespace), name),
        None => (kind, None, rest),
    };
    let is_whole = ![Some(kind), parts.1, Some(parts.2)].contains(&Some(""));
    (is_whole && !parts.2.contains(['/', ' '])).then_some(parts)
}

/// Locators that are printed together: without the group, unless two groups among them have a kind of that name.
#[derive(Debug, Default)]
pub struct Locators<'l>(BTreeSet<&'l str>);

impl<'l> FromIterator<&'l str> for Locators<'l> {
    fn from_iter<I: IntoIterator<Item = &'l str>>(locators: I) -> Self {
        let locators = locators.into_iter();
        Self(locators.filter_map(|locator| locator.split(':').next()).collect())
    }
}

impl Locators<'_> {
    /// A locator as people read it.
    ///
    /// ```
    /// use apimachinery::Locators;
    /// let kinds = Locators::from_iter(["gateway.a.org:x/y", "gateway.b.org:x/z", "authpolicy.a.org:x/y"]);
    /// assert_eq!(kinds.short("authpolicy.a.org:x/y"), "authpolicy/x/y");
    /// assert_eq!(kinds.short("gateway.a.org:x/y"), "gateway.a.org/x/y");
    /// ```
    pub fn short(&self, locator: &str) -> String {
        let (kind, name) = locator.split_once(':').unwrap_or((locator, ""));
        let (bare, _) = kind.split_once('.').unwrap_or((kind, ""));
        let is_same = |other: &&&str| other.split('.').next() == Some(bare);
        match self.0.iter().filter(is_same).count() {
            0 | 1 => format!("{bare}/{name}"),
            _ => format!("{kind}/{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_group_is_not_written_and_neither_is_a_namespace_that_is_not_there() {
        for text in ["v1", "apps/v1"] {
            assert_eq!(ApiVersion::parse(text).to_string(), text);
        }
        assert_eq!(GroupKind::new("", "Service").to_string(), "Service");
        assert_eq!(
            GroupKind::new("apps", "Deployment").to_string(),
            "Deployment.apps"
        );
        let namespaced = Identity::new("", "Service", Some("shop"), "cart");
        assert_eq!(namespaced.to_string(), "Service shop/cart");
        assert_eq!(namespaced.locator(), "service:shop/cart");
        assert_eq!(
            Identity::new("", "Namespace", None, "shop").to_string(),
            "Namespace shop"
        );
    }
}
