//! Names and types.

use kube_cel::cel::IdedExpr;

pub(super) fn check(_expression: &IdedExpr) -> Result<(), String> {
    Ok(())
}
