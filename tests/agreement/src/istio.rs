//! `pilot/pkg/config/kube/gateway/testdata` of istio/istio: `NAME.yaml` has objects, `NAME.status.yaml.golden` the same with
//! their statuses.

use std::error::Error;
use std::fs;
use std::path::Path;

use super::Tally;
use super::answers::{Answers, compare_ancestors, compare_routes};

pub(crate) const SUFFIX: &str = ".status.yaml.golden";
const CONDITIONS: [(&str, &str); 1] = [("Accepted of policies", "Accepted")];

/// Compares one case.
pub(crate) fn compare(tally: &mut Tally, case: &str, file: &Path) -> Result<(), Box<dyn Error>> {
    let limits = kube_yaml::Limits::default();
    let name = file.to_string_lossy();
    let input = format!("{}.yaml", name.strip_suffix(SUFFIX).unwrap_or(&name));
    let objects = kube_yaml::read_all(&fs::read_to_string(input)?, &limits)?;
    let golden = kube_yaml::read_all(&fs::read_to_string(file)?, &limits)?;
    let answers = Answers::about(&objects)?;
    compare_routes(tally, case, &objects, &golden)?;
    for object in &golden {
        if !object["status"]["ancestors"].is_null() {
            let mine = answers.policy(object);
            compare_ancestors(tally, case, (object, &object["status"], mine), &CONDITIONS);
        }
    }
    Ok(())
}
