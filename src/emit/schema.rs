//! `manifests/schema/v1.json`: the shape of every file of a version, as JSON Schema (2020-12).
//!
//! The document itself is the schema of `manifest.json`; `$defs/Instance` is that of a row of `instances.jsonl`,
//! `$defs/LogEntry` that of a line of the selection log, `$defs/VariantRow` that of a row of `variants.jsonl`,
//! `$defs/DocsRow` that of a row of `docs.jsonl`, `$defs/AnnotationRow` that of a row of `annotations.jsonl`.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::annotate::AnnotationRow;
use super::canonical;
use super::docs::DocsRow;
use super::entry::LogEntry;
use super::instance::Instance;
use super::manifest::Manifest;
use super::variants::VariantRow;

/// Where it stands below `manifests/`.
pub const FILE: &str = "schema/v1.json";

/// The schema as a value, keys sorted.
pub fn value() -> Value {
    let mut generator = SchemaGenerator::default();
    generator.subschema_for::<Instance>();
    generator.subschema_for::<LogEntry>();
    generator.subschema_for::<VariantRow>();
    generator.subschema_for::<DocsRow>();
    generator.subschema_for::<AnnotationRow>();
    let mut schema = generator.into_root_schema_for::<Manifest>();
    schema.insert("title".into(), "Quarry dataset manifest, schema version 1".into());
    canonical::sorted(schema.as_value())
}

/// The schema as a document.
///
/// # Errors
/// Never in practice: a schema has a JSON form.
pub fn document() -> serde_json::Result<Vec<u8>> {
    canonical::document(&value())
}

/// What a file's values are checked against.
pub struct Validators {
    /// For `manifest.json`.
    pub manifest: jsonschema::Validator,
    /// For a row.
    pub instance: jsonschema::Validator,
    /// For a line of the log.
    pub entry: jsonschema::Validator,
    /// For a row of the variants.
    pub variant: jsonschema::Validator,
    /// For a row of the documentation.
    pub docs: jsonschema::Validator,
    /// For a row of the annotations.
    pub annotation: jsonschema::Validator,
}

impl Validators {
    /// Those of this program's schema; `None` never, as a test compiles them.
    pub fn new() -> Option<Self> {
        let manifest = value();
        let of = |name: &str| {
            let mut schema = manifest.clone();
            let map = schema.as_object_mut()?;
            map.retain(|key, _| key == "$defs" || key == "$schema");
            map.insert("$ref".into(), format!("#/$defs/{name}").into());
            jsonschema::validator_for(&schema).ok()
        };
        Some(Self {
            manifest: jsonschema::validator_for(&manifest).ok()?,
            instance: of(&Instance::schema_name())?,
            entry: of(&LogEntry::schema_name())?,
            variant: of(&VariantRow::schema_name())?,
            docs: of(&DocsRow::schema_name())?,
            annotation: of(&AnnotationRow::schema_name())?,
        })
    }
}

/// The first thing in which a value differs from its schema: where, and how.
pub fn first_fault(validator: &jsonschema::Validator, value: &Value) -> Option<(String, String)> {
    let fault = validator.iter_errors(value).next()?;
    let mut said = fault.to_string();
    if said.chars().count() > 200 {
        said = said.chars().take(200).chain("…".chars()).collect();
    }
    Some((fault.instance_path().to_string(), said))
}
