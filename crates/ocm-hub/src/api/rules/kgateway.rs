//! kgateway's TrafficPolicy (docs/systems/other-policies.md#kgateway).

use super::complaints::Complaints;
use apimachinery::Field;

/// A policy of kgateway.
pub(super) fn policy(complaints: &mut Complaints<'_>) {
    if complaints.kind() != "TrafficPolicy" {
        return;
    }
    let spec = complaints.spec();
    let targets: Vec<Field<'_>> = ["targetRefs", "targetSelectors"]
        .into_iter()
        .flat_map(|list| spec.get(list).items().collect::<Vec<_>>())
        .collect();
    let only_for = [
        ("autoHostRewrite", &["HTTPRoute"][..]),
        ("tracing", &["HTTPRoute", "GRPCRoute"]),
    ];
    for (field, kinds) in only_for {
        let setting = spec.get(field);
        let other = targets.iter().find_map(|target| {
            let kind = target.text("kind")?;
            (!kinds.contains(&kind)).then_some(kind)
        });
        if let (true, Some(other)) = (setting.is_present(), other) {
            let message = format!("`{field}` is only for routes, but a target is a {other}");
            let help = format!("remove `{field}`, or target {} only", kinds.join(" or "));
            complaints.key(&setting, message, help);
        }
    }
    let whole_gateway = targets
        .iter()
        .find(|target| target.text("kind") == Some("Gateway") && !target.get("sectionName").is_present());
    if let (true, Some(gateway)) = (spec.get("retry").is_present(), whole_gateway) {
        let message = "retries on a Gateway need a listener, but the target is the whole Gateway";
        complaints.value(gateway, message, "add `sectionName`, or target routes");
    }
}
