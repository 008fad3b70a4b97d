//! The facts compile, and are those of OCM's CRDs.

use super::*;

#[test]
fn the_schemas_compile_without_problems() {
    for (name, _, facts) in schema::kinds() {
        let (schema, problems) = Schema::of_resource(&facts, false);
        assert_eq!(problems, vec![], "{name}");
        assert_eq!(schema.verify(), vec![], "{name}");
    }
}

#[cfg(feature = "real-crds")]
mod real_crds {
    use serde_json::{Map, Value, json};

    use super::schema;
    use crate::api::fixture::real_crds;
    use crate::object::Object;

    /// A schema without what says nothing about the values that the scheduler reads.
    fn essence(schema: &Value) -> Value {
        let Value::Object(fields) = schema else {
            return schema.clone();
        };
        let has_default = |name: &Value| {
            let property = name.as_str().and_then(|name| fields.get("properties")?.get(name));
            property.is_some_and(|property| property.get("default").is_some())
        };
        let int_or_string = fields.contains_key("x-kubernetes-int-or-string");
        let kept = fields.iter().filter_map(|(name, value)| {
            let value = match name.as_str() {
                "default" | "x-kubernetes-map-type" => return None,
                "x-kubernetes-list-type" if value == "atomic" => return None,
                "description" if value.is_string() => return None,
                "anyOf" if int_or_string => return None,
                // A count in Go, and a pattern that Kubernetes' own parser narrows.
                "format" | "pattern" if int_or_string => return None,
                "required" | "enum" | "x-kubernetes-list-map-keys" => {
                    let mut names = value.as_array().cloned().unwrap_or_default();
                    names.retain(|name| !has_default(name));
                    names.sort_by_key(Value::to_string);
                    if names.is_empty() {
                        return None;
                    }
                    Value::Array(names)
                }
                "properties" => {
                    let all = value.as_object().into_iter().flatten();
                    let all: Map<String, Value> = all
                        .map(|(name, schema)| (name.clone(), essence(schema)))
                        .collect();
                    Value::Object(all)
                }
                "items" | "additionalProperties" => essence(value),
                _ => value.clone(),
            };
            Some((name.clone(), value))
        });
        Value::Object(kept.collect())
    }

    fn is_definition_of(object: &Object, kind: &str) -> bool {
        object.value["spec"]["group"] == super::GROUP && object.value["spec"]["names"]["kind"] == kind
    }

    #[test]
    fn our_schemas_say_what_ocms_crds_say() {
        let crds = real_crds();
        for (kind, version, facts) in schema::kinds() {
            let (_, crd) = crds
                .iter()
                .find(|(_, object)| is_definition_of(object, kind))
                .expect(kind);
            let versions = crd.value["spec"]["versions"].as_array().expect("versions");
            let served: Vec<&Value> = versions
                .iter()
                .filter(|one| one["served"] == json!(true))
                .collect();
            assert_eq!(
                served.iter().map(|one| &one["name"]).collect::<Vec<_>>(),
                [version],
                "{kind}"
            );
            let mut theirs = essence(&served[0]["schema"]["openAPIV3Schema"]);
            // What is ours.
            match kind {
                "Placement" => {
                    theirs["properties"]["spec"]["properties"]["numberOfClusters"]["minimum"] = json!(0)
                }
                "PlacementDecision" => {
                    theirs["properties"]["status"]["properties"]["decisions"]["items"]["required"] =
                        json!(["clusterName"]);
                }
                _ => {}
            }
            assert_eq!(format!("{:#}", essence(&facts)), format!("{theirs:#}"), "{kind}");
        }
    }
}
