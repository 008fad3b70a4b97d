//! Policies of one target that add up as long as no two of them set one field, as NGINX Gateway Fabric has it
//! (docs/systems/other-policies.md#nginx-gateway-fabric).

use super::json_merge_patch::{above, has, lay_under, patch};
use super::strategic_merge::all_elements;
use crate::policy::model::{Content, Entry, Layer};
use crate::policy::profile::{ListKey, Profile};

/// Switches for which only the directive that turns them on is written: off means the same as unset, so that one that
/// is on above stays on (`nginx/nginx-gateway-fabric
/// internal/controller/nginx/config/policies/ratelimit/generator.go@v2.6.7`).
const ONLY_ON: [&str; 1] = ["/rateLimit/dryRun"];

/// Whether two policies set one of the fields that only one of them may set.
pub(crate) fn meet(profile: &Profile, one: &[Layer], other: &[Layer]) -> bool {
    let mut fields = profile.exclusive_fields.iter();
    fields.any(|field| sets(one, field) && sets(other, field))
}

/// Whether two policies make one setting two things although neither is refused: then the older one's counts. Lists
/// that add up are no such setting.
pub(crate) fn disagree(profile: &Profile, one: &[Layer], other: &[Layer]) -> bool {
    let adds_up = |key: &str| profile.list_keys.iter().any(|list| list.pointer == key);
    let of_other = |key: &str| other.iter().find_map(|layer| layer.content.get(key));
    let leaves = || one.iter().flat_map(|layer| layer.content.iter());
    let mut settings = leaves().filter(|(key, _)| !adds_up(key));
    settings.any(|(key, leaf)| match of_other(key) {
        Some(theirs) => theirs.value != leaf.value,
        None => sets(other, key) || above(key).any(|above| of_other(above).is_some()),
    })
}

fn sets(layers: &[Layer], field: &str) -> bool {
    layers.iter().any(|layer| has(&layer.content, field))
}

/// Levels from least to most specific, each in role order. A field of a more specific level replaces that of the
/// others, a list as a whole: NGINX inherits a directive where a level has none of its own.
pub(crate) fn per_field(profile: &Profile, levels: &[&[Entry]]) -> Content {
    let mut result = Content::new();
    for level in levels {
        let mut own = together(profile, level);
        own.retain(|key, leaf| {
            let is_off = ONLY_ON.contains(&&**key) && *leaf.value == false;
            !(is_off && result.contains_key(key))
        });
        for list in profile.list_keys.iter().filter(|list| has(&own, &list.pointer)) {
            let below = format!("{}/", list.pointer);
            // NGINX inherits a directive only where a level has none of its own, so a list replaces the one above as a
            // whole.
            result.retain(|key, _| **key != *list.pointer && !key.starts_with(&below));
        }
        patch(&mut result, &own, &profile.unit);
    }
    result
}

/// The result of the policies of one level: the fields of each, and all elements of the lists that add up.
fn together(profile: &Profile, level: &[Entry]) -> Content {
    let layers = || level.iter().flat_map(|entry| entry.layers.iter());
    let contents = || layers().map(|layer| &layer.content);
    let mut result = Content::new();
    for content in contents() {
        lay_under(&mut result, content, &profile.unit);
    }
    for ListKey { pointer, .. } in &profile.list_keys {
        let lists = contents().filter_map(|content| content.get(pointer.as_str()));
        let lists: Vec<_> = lists.collect();
        if lists.len() > 1 {
            result.remove(pointer.as_str());
            result.extend(all_elements(&lists, pointer));
        }
    }
    result
}
