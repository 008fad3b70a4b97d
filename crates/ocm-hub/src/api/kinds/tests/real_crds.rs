//! The table agrees with the definitions of public projects.

use crate::api::crd::read;
use crate::api::kinds::{KindInfo, KindTable};
use crate::tests::real_crds;

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
            (&ours.plural, ours.scope, ours.has_target),
            (&theirs.plural, theirs.scope, theirs.has_target),
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
    assert!(policy.has_policy_label && !policy.is_built_in);
}
