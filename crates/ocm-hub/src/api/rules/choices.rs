//! Fields that exclude each other in one mapping: the one of its type, at most one, exactly one.
//!
//! Owns: these three rules. Flows in: mappings, names of fields. Flows out: complaints. Must not know: kinds.

use super::complaints::Complaints;
use apimachinery::Field;

/// The values of a field that says which other field is there, with that field.
pub(super) type Types<'t> = &'t [(&'t str, &'t str)];

/// A mapping whose field `by` says which other one is there has that one, and none of the others. `given` says whether a
/// field is there.
pub(super) fn of_its_type<'a>(
    complaints: &mut Complaints<'_>,
    (what, by): (&str, &'a str),
    mapping: &Field<'a>,
    types: Types<'a>,
    given: fn(&Field<'a>) -> bool,
) {
    let Some(own) = mapping.text(by) else {
        return;
    };
    // In most mappings, the field of its type is there, and nothing else: then no type is gone through.
    let its = types.iter().find(|(name, _)| own == *name);
    if its.is_some_and(|(_, field)| {
        mapping.names().all(|name| name == by || name == *field) && given(&mapping.get(field))
    }) {
        return;
    }
    let concerned = types
        .iter()
        .filter(|(name, field)| own == *name || mapping.has(field));
    for (name, field) in concerned {
        let value = mapping.get(field);
        match (own == *name, given(&value)) {
            (true, false) => complaints.value(
                mapping,
                format!("{what} of {by} {name} has no `{field}`"),
                format!("add `{field}`"),
            ),
            (false, true) => complaints.key(
                &value,
                format!("{what} of {by} {own} cannot have `{field}`"),
                format!("remove it, or write `{by}: {name}`"),
            ),
            _ => {}
        }
    }
}

/// At most one of several fields of a mapping; the second one is wrong. An empty text is none.
pub(super) fn at_most_one(complaints: &mut Complaints<'_>, mapping: &Field<'_>, fields: &[&str]) {
    let is_there = |field: &&&str| mapping.has(field) && mapping.text(field) != Some("");
    let mut there = fields.iter().filter(is_there);
    if let (Some(first), Some(second)) = (there.next(), there.next()) {
        let message = format!("`{first}` and `{second}` cannot be used together");
        complaints.key(&mapping.get(second), message, "keep one of them");
    }
}

/// Exactly one of several fields of a mapping that is there.
pub(super) fn exactly_one(complaints: &mut Complaints<'_>, mapping: &Field<'_>, fields: &[&str]) {
    if mapping.is_present() && !fields.iter().any(|field| mapping.has(field)) {
        let names = format!("`{}`", fields.join("`, `"));
        let message = format!("one of {names} is required");
        complaints.value(mapping, message, format!("add one of {names}"));
    }
    at_most_one(complaints, mapping, fields);
}
