kinds=$(kubectl api-resources --verbs=list -o name | grep -E \
  '^(namespaces$|managedcluster|placement|addonplacementscores)|\.gateway\.networking\.(x-)?k8s\.io$|policies\.|\.networking\.gke\.io$|\.gateway\.nginx\.org$|\.istio\.io$|^certificates\.|issuers\.' |
  grep -v '^networkpolicies\.')
for kind in $kinds; do
  echo ---; kubectl get "$kind" --all-namespaces -o yaml
done > exported.yaml
kubectl get gatewayclasses -o jsonpath='{range .items[*]}{.spec.parametersRef.namespace} {.spec.parametersRef.name}{"\n"}{end}' |
  while read -r namespace name; do
    [ -z "$name" ] || { echo ---; kubectl get configmap "$name" -n "$namespace" -o yaml; }
  done >> exported.yaml

# What a cluster has already, into spokes/CLUSTER/: `export_cluster eu-1` where its context is called eu-1, too. The name
# of a Secret is enough; its data stay there.
export_cluster() {
  mkdir -p "spokes/$1"
  for kind in $(kubectl --context "$1" api-resources --verbs=list -o name | grep -E \
    '^(namespaces|services)$|\.gateway\.networking\.(x-)?k8s\.io$|policies\.|\.gateway\.nginx\.org$|\.istio\.io$' |
    grep -v '^networkpolicies\.'); do
    echo ---; kubectl --context "$1" get "$kind" --all-namespaces -o yaml
  done > "spokes/$1/exported.yaml"
  kubectl --context "$1" get secrets --all-namespaces -o go-template='{{range .items}}---
apiVersion: v1
kind: Secret
type: {{.type}}
metadata: {name: {{.metadata.name}}, namespace: {{.metadata.namespace}}}
{{end}}' > "spokes/$1/secrets.yaml"
}
