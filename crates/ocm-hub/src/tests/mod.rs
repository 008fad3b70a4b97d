//! Objects for tests.

pub(crate) mod findings;

use kube_json::Value;

use crate::object::Object;

/// [`Object::alone`].
pub(crate) fn object(value: Value) -> Object {
    Object::alone(value)
}

/// The CRDs of public projects, by path.
#[cfg(feature = "real-crds")]
pub(crate) fn real_crds() -> Vec<(std::path::PathBuf, Object)> {
    let crds = test_crds::real_crds().into_iter();
    crds.map(|(path, value)| (path, object(value))).collect()
}
