//! `diff --without`: which object is meant, and the input without it.
//!
//! Owns: finding the object. Flows in: the input, `KIND/[NS/]NAME`. Flows out: the input without the object. Must not
//! know: what is compared.

use spokewright::Object;
use spokewright::pipeline::Loaded;

use super::stop::{Stop, usage};
use crate::cli::named::named;

/// Removes an object from the hub, or else from every cluster where it lives, and returns its name.
pub(super) fn remove(loaded: &mut Loaded, wanted: &str) -> Result<String, Stop> {
    let hub: Vec<&Object> = loaded.hub.objects.iter().collect();
    let anywhere: Vec<&Object> = hub
        .iter()
        .copied()
        .chain(loaded.hub.spokes.values().flatten())
        .collect();
    let object = named(loaded, &hub, wanted)
        .or_else(|_| named(loaded, &anywhere, wanted))
        .map_err(|refusal| usage(&refusal.to_string(), &refusal.help))?;
    let identity = object.identity();
    loaded.remove(&identity);
    Ok(identity.to_string())
}
