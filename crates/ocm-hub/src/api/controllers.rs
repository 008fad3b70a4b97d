//! Controllers of other projects, and the GatewayClasses that they or their installations make.

/// Name of the controller, product, and the classes that it usually has; the first one is the most common.
#[rustfmt::skip] // one row a line
const CONTROLLERS: [(&str, &str, &[&str]); 12] = [
    ("gateway.envoyproxy.io/gatewayclass-controller", "Envoy Gateway", &["eg", "envoy-gateway"]),
    ("gateway.nginx.org/nginx-gateway-controller", "NGINX Gateway Fabric", &["nginx"]),
    ("io.cilium/gateway-controller", "Cilium", &["cilium"]),
    ("istio.io/gateway-controller", "Istio", &["istio", "istio-waypoint", "istio-remote", "istio-east-west"]),
    ("kgateway.dev/kgateway", "kgateway", &["kgateway", "kgateway-waypoint"]),
    ("networking.gke.io/gateway", "GKE", &["gke-l7-global-external-managed"]),
    ("application-networking.k8s.aws/gateway-api-controller", "Amazon VPC Lattice", &["amazon-vpc-lattice"]),
    ("traefik.io/gateway-controller", "Traefik", &["traefik"]),
    ("konghq.com/kic-gateway-controller", "Kong", &["kong"]),
    ("projectcontour.io/gateway-controller", "Contour", &["contour"]),
    ("alb.networking.azure.io/alb-controller", "Azure", &["azure-alb-external", "azure-alb-internal"]),
    ("agentgateway.dev/agentgateway", "agentgateway", &["agentgateway"]),
];

/// Every class of GKE begins like this.
const OF_GKE: &str = "gke-l7-";

/// The product whose class has this name, if it is a usual one.
pub fn product_of_class(name: &str) -> Option<&'static str> {
    let is_of = |(_, product, classes): &&(_, &str, &[&str])| {
        classes.contains(&name) || (*product == "GKE" && name.starts_with(OF_GKE))
    };
    CONTROLLERS.iter().find(is_of).map(|(_, product, _)| *product)
}

/// The product of a controller, and its most common class. A product may have several controllers in one domain.
pub fn product_of_controller(name: &str) -> Option<(&'static str, &'static str)> {
    let domain = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let is_of = |(known, ..): &&(&str, _, _)| domain(known) == domain(name);
    let (_, product, classes) = CONTROLLERS.iter().find(is_of)?;
    Some((product, classes.first()?))
}

/// The most common class of each product.
pub fn usual_classes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = CONTROLLERS.iter();
    rows.filter_map(|(_, product, classes)| Some((*classes.first()?, *product)))
}
