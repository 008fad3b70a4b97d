//! Sizes that Envoy Gateway refuses, although its CRDs accept them (docs/systems/envoy-gateway.md#sizes).
//!
//! Owns: which fields, their bounds, and the controller's message. Flows in: the settings of a policy. Flows out: a
//! message. Must not know: targets.

use apimachinery::Quantity;
use kube_json::Value;

/// A size of bytes.
struct Size {
    pointer: &'static str,
    /// What it is called in messages, and what it is a part of, for each kind that has it.
    name: &'static str,
    parts: &'static [(&'static str, &'static str)],
    bounds: (u32, u32),
    /// Whether the message has them.
    says_bounds: bool,
}

/// The bounds of a window of HTTP/2: Envoy's least, and the protocol's most.
const WINDOW: (u32, u32) = (65_535, 2_147_483_647);
const HTTP2: &[(&str, &str)] = &[
    ("ClientTrafficPolicy", "HTTP2"),
    ("BackendTrafficPolicy", "HTTP2"),
];

/// `envoyproxy/gateway internal/gatewayapi/clienttrafficpolicy.go@v1.9.0`,
/// `envoyproxy/gateway internal/gatewayapi/clustersettings.go@v1.9.0`,
/// `envoyproxy/gateway internal/gatewayapi/http.go@v1.9.0`.
const SIZES: [Size; 4] = [
    Size {
        pointer: "/spec/connection/bufferLimit",
        name: "BufferLimit",
        parts: &[("ClientTrafficPolicy", "Connection")],
        bounds: (0, u32::MAX),
        says_bounds: true,
    },
    Size {
        pointer: "/spec/connection/bufferLimit",
        name: "BufferLimit",
        parts: &[("BackendTrafficPolicy", "BackendConnection")],
        bounds: (0, u32::MAX),
        says_bounds: false,
    },
    Size {
        pointer: "/spec/http2/initialStreamWindowSize",
        name: "InitialStreamWindowSize",
        parts: HTTP2,
        bounds: WINDOW,
        says_bounds: true,
    },
    Size {
        pointer: "/spec/http2/initialConnectionWindowSize",
        name: "InitialConnectionWindowSize",
        parts: HTTP2,
        bounds: WINDOW,
        says_bounds: true,
    },
];

/// A size that the controller refuses.
#[derive(Debug)]
pub(super) struct WrongSize {
    /// The message about all of them in one part of the policy.
    pub(super) message: String,
    /// The pointer of the first.
    pub(super) pointer: &'static str,
    /// The values that it accepts there.
    pub(super) bounds: (u32, u32),
}

/// Why the controller refuses the sizes of a policy, or of one with what it is merged with; it stops at the first part of the
/// policy that has a wrong one.
pub(super) fn refused<'v>(kind: &str, value_at: impl Fn(&str) -> Option<&'v Value>) -> Option<WrongSize> {
    let mut said: Option<(&str, &Size, Vec<String>)> = None;
    for size in &SIZES {
        let part = size.parts.iter().find(|(of_kind, _)| *of_kind == kind);
        let value = value_at(size.pointer);
        let (Some((_, part)), Some(wrong)) = (part, value.and_then(|value| size.refused(value))) else {
            continue;
        };
        match &mut said {
            None => said = Some((part, size, vec![wrong])),
            Some((first, _, all)) if first == part => all.push(wrong),
            Some(_) => {}
        }
    }
    said.map(|(part, first, wrong)| WrongSize {
        message: format!("{part}: {}.", wrong.join("\n")),
        pointer: first.pointer,
        bounds: first.bounds,
    })
}

impl Size {
    fn refused(&self, value: &Value) -> Option<String> {
        let text = match value {
            Value::String(text) => text.to_string(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        // Exact for any size that is near a bound.
        let size = Quantity::parse(&text).ok()?.approximate();
        let (least, most) = self.bounds;
        let bounds = if self.says_bounds {
            format!(", must be between {least} and {most}")
        } else {
            String::new()
        };
        (size < f64::from(least) || size > f64::from(most))
            .then(|| format!("{} value {text} is out of range{bounds}", self.name))
    }
}
