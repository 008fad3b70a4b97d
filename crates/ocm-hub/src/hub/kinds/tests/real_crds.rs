//! The table agrees with the definitions of public projects.

use crate::api::crd::{PolicyLabel, read};
use crate::api::testing::real_crds;
use crate::hub::kinds::KindTable;
use crate::hub::kinds::{KindInfo, KindSource};

#[test]
fn the_table_agrees_with_the_crds_of_the_projects() {
    let crds = real_crds();
    let table = KindTable::built_in();
    for (path, object) in &crds {
        let crd = read(object).0.expect("a CRD");
        let theirs = KindInfo::from(&crd);
        let ours = table
            .kind(&crd.group, &crd.kind)
            .unwrap_or_else(|| panic!("{}", path.display()));
        assert_eq!(
            (&ours.plural, ours.scope, ours.targets),
            (&theirs.plural, theirs.scope, theirs.targets),
            "{}",
            path.display()
        );
        for version in &theirs.versions {
            assert!(ours.serves(version), "{} {version}", path.display());
        }
    }
    let with = KindTable::with_crds(
        crds.iter()
            .filter_map(|(_, object)| read(object).0)
            .collect::<Vec<_>>()
            .iter(),
    );
    let policy = with.kind("kuadrant.io", "AuthPolicy").expect("known");
    assert_eq!(
        (policy.source, policy.policy_label),
        (KindSource::Crd, Some(PolicyLabel::Inherited))
    );
}
