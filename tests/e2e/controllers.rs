//! OCM's programs, and what a registered cluster has for them.
//!
//! Owns: their arguments and the rights of a work agent. Flows in: clusters that are ready. Flows out: running
//! controllers. Must not know: what is rendered.

use std::fs;
use std::path::Path;
use std::process::Command;

use kube_json::json;

use crate::clusters::{AGENT, Cluster};
use crate::needs::Needs;
use crate::programs::{Programs, free_ports};

/// The namespace of a klusterlet's agents on a spoke.
const AGENT_NAMESPACE: &str = "open-cluster-management-agent";
/// The same for the controllers on the hub.
const HUB_NAMESPACE: &str = "open-cluster-management-hub";

/// The rights of a work agent, as a klusterlet gives them to its ServiceAccount
/// (docs/systems/ocm-work.md#the-agents-rights).
/// Kubernetes' role `admin` is the sum of three others; a bare API server has nobody who adds them up, so all three are
/// bound. The role that is the sum of `aggregate-to-work` is left out on purpose, as older agents have none: the rights
/// under test are then those of `gateway-rbac` and its binding.
fn rights() -> String {
    let rules = json!([
        {"apiGroups": ["work.open-cluster-management.io"], "resources": ["appliedmanifestworks"],
         "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"]},
        {"apiGroups": ["work.open-cluster-management.io"],
         "resources": ["appliedmanifestworks/status", "appliedmanifestworks/finalizers"], "verbs": ["patch", "update"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"],
         "verbs": ["get", "list", "watch", "create", "update", "delete"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["create", "update", "patch", "delete"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "update", "patch"]},
        {"apiGroups": ["rbac.authorization.k8s.io"],
         "resources": ["clusterrolebindings", "rolebindings", "clusterroles", "roles"],
         "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles", "roles"],
         "verbs": ["escalate", "bind"]},
    ]);
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": AGENT_NAMESPACE}}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
               "metadata": {"name": "e2e:work-agent"}, "rules": rules}),
    ];
    let of_admin = [
        "system:aggregate-to-admin",
        "system:aggregate-to-edit",
        "system:aggregate-to-view",
    ];
    for role in of_admin.iter().chain(&["e2e:work-agent"]) {
        let binding = format!("e2e:agent:{}", role.trim_start_matches("e2e:"));
        objects.push(binding_of(&binding, role, AGENT));
    }
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

/// A ClusterRoleBinding of a role to a user.
pub(crate) fn binding_of(name: &str, role: &str, user: &str) -> kube_json::Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
           "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]})
}

/// Gives the agent of a spoke its rights, and starts it. It looks at status each second, not each ten.
pub(crate) fn start_agent(
    directory: &Path,
    needs: &Needs,
    programs: &mut Programs,
    hub: &Cluster,
    spoke: &Cluster,
) -> Result<(), String> {
    spoke.kubectl_reads(&["apply", "-f", "-"], &rights())?;
    let name = format!("{}-work-agent", spoke.name);
    let mut arguments = common(directory, &name, &spoke.agent, AGENT_NAMESPACE)?;
    arguments.insert(0, "agent".to_owned());
    arguments.extend([
        format!("--spoke-cluster-name={}", spoke.name),
        format!("--agent-id={}", spoke.name),
        "--workload-source-driver=kube".to_owned(),
        format!("--workload-source-config={}", hub.admin.display()),
        "--status-sync-interval=1s".to_owned(),
    ]);
    programs.start(&name, &needs.work, &arguments)
}

/// Starts the scheduler on the hub.
pub(crate) fn start_placement(
    directory: &Path,
    needs: &Needs,
    programs: &mut Programs,
    hub: &Cluster,
) -> Result<(), String> {
    let mut arguments = common(directory, "hub-placement", &hub.admin, HUB_NAMESPACE)?;
    arguments.insert(0, "controller".to_owned());
    programs.start("hub-placement", &needs.placement, &arguments)
}

/// Starts the controller of replica sets on the hub. Newer ones have a gate for it, older ones no flag for gates.
pub(crate) fn start_manager(
    directory: &Path,
    needs: &Needs,
    programs: &mut Programs,
    hub: &Cluster,
) -> Result<(), String> {
    let mut arguments = common(directory, "hub-work-manager", &hub.admin, HUB_NAMESPACE)?;
    arguments.insert(0, "manager".to_owned());
    let help = Command::new(&needs.work).args(["manager", "--help"]).output();
    let help = help.map_err(|error| format!("work manager --help: {error}"))?;
    if String::from_utf8_lossy(&help.stdout).contains("--feature-gates") {
        arguments.push("--feature-gates=ManifestWorkReplicaSet=true".to_owned());
    }
    programs.start("hub-work-manager", &needs.work, &arguments)
}

/// What all three take
/// (openshift/library-go pkg/controller/controllercmd/cmd.go@1eca098341bc696d1290da9c55a9dc91072b32c7).
/// Each serves its health, by default on one and the same port; whom it asks about its own callers is a ConfigMap that
/// only an API server with a CA for clients fills, so nobody is asked.
fn common(directory: &Path, name: &str, kubeconfig: &Path, namespace: &str) -> Result<Vec<String>, String> {
    let [port] = free_ports()?;
    let config = directory.join(format!("{name}.json"));
    let settings = json!({
        "apiVersion": "operator.openshift.io/v1alpha1",
        "kind": "GenericOperatorConfig",
        "servingInfo": {"bindAddress": format!("127.0.0.1:{port}")},
        "authentication": {"disabled": true},
        "authorization": {"disabled": true},
    });
    fs::write(&config, settings.to_string()).map_err(|error| format!("{}: {error}", config.display()))?;
    Ok(vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--namespace={namespace}"),
        format!("--config={}", config.display()),
        "--disable-leader-election".to_owned(),
    ])
}
