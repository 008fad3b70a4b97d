//! `diff --without`: which object somebody means, and the input without it.

use spokewright::diagnostic;
use spokewright::hub::Objects;
use spokewright::object::Object;
use spokewright::pipeline::Loaded;

use super::{Stop, usage};

/// Takes an object out of the hub, or else off every cluster where it lives, and says what it is called.
pub(super) fn remove(loaded: &mut Loaded, wanted: &str) -> Result<String, Stop> {
    let parts: Vec<&str> = wanted.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, namespace, name] => (*kind, Some(*namespace), *name),
        _ => {
            return Err(usage(
                &format!("`{wanted}` names no object"),
                "write KIND/NAMESPACE/NAME, or KIND/NAME for an object without a namespace",
            ));
        }
    };
    let is_kind = |object: &Object| {
        kind.eq_ignore_ascii_case(&object.kind) || kind.eq_ignore_ascii_case(&object.group_kind().to_string())
    };
    let is_meant =
        |object: &&Object| object.name == name && object.namespace.as_deref() == namespace && is_kind(object);
    let (hub, spokes) = (&loaded.hub.objects, &loaded.hub.spokes);
    let mut found: Vec<&Object> = hub.iter().filter(is_meant).collect();
    let on_spokes = found.is_empty();
    if on_spokes {
        // What lives on several clusters under one name is one answer.
        found = spokes.values().flatten().filter(is_meant).collect();
        found.sort_by_key(|object| object.identity());
        found.dedup_by_key(|object| object.identity());
    }
    let identity = match found.as_slice() {
        [one] => one.identity(),
        [] => {
            let known: Vec<String> = hub
                .iter()
                .chain(spokes.values().flatten())
                .map(|object| format!("{}/{}", object.kind, object.key()))
                .collect();
            let help = diagnostic::nearest(wanted, known.iter().map(String::as_str)).map_or_else(
                || "write KIND/NAMESPACE/NAME, or KIND/NAME for an object without a namespace".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            return Err(usage(&format!("there is no `{wanted}` in the input"), &help));
        }
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|object| format!("`{}/{}`", object.group_kind(), object.key()))
                .collect();
            return Err(usage(
                &format!("`{wanted}` is several objects"),
                &format!("name one of {}", names.join(", ")),
            ));
        }
    };
    let without = |objects: &Objects| {
        let kept = objects.iter().filter(|object| object.identity() != identity);
        Objects::new(kept.cloned().collect())
    };
    if on_spokes {
        for objects in loaded.hub.spokes.values_mut() {
            *objects = without(objects);
        }
    } else {
        loaded.hub.objects = without(&loaded.hub.objects);
    }
    Ok(identity.to_string())
}
