//! Croissant 1.0 metadata (<https://docs.mlcommons.org/croissant/docs/croissant-spec.html>): the table, its hash, and a
//! record set whose fields are the row's columns.

use serde_json::{Value, json};

use super::version::Version;
use crate::domain::hash::sha256_hex;
use crate::emit::error::EmitError;
use crate::emit::instance::Instance;

/// A column, by the values that rows have in it: lists of texts are repeated texts, and what is nested is a text that holds
/// JSON.
fn field<'row>(name: &str, file: &str, values: impl Iterator<Item = &'row Value> + Clone) -> Value {
    let is_list = |value: &Value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string))
    };
    let mut known = values.filter(|value| !value.is_null());
    let is_repeated = known.clone().next().is_some() && known.clone().all(is_list);
    let kind = match known.next() {
        Some(Value::Bool(_)) => "sc:Boolean",
        Some(Value::Number(_)) => "sc:Integer",
        _ => "sc:Text",
    };
    let mut field = json!({
        "@type": "cr:Field",
        "@id": format!("instances/{name}"),
        "name": name,
        "dataType": kind,
        "source": {
            "fileObject": {"@id": file},
            "extract": {"column": name},
        },
    });
    if is_repeated {
        field["repeated"] = true.into();
    }
    field
}

/// The metadata of the table `bytes` in `file`.
///
/// # Errors
/// [`EmitError::Json`] when a row has no JSON form.
pub fn metadata(version: &Version, file: &str, bytes: &[u8]) -> Result<Value, EmitError> {
    let manifest = &version.manifest;
    let rows = version.instances.iter().map(serde_json::to_value);
    let rows: Vec<Value> = rows.collect::<Result<_, _>>().map_err(|source| EmitError::Json {
        file: "croissant.json",
        source,
    })?;
    let columns: Vec<String> = match rows.first() {
        Some(Value::Object(row)) => row.keys().cloned().collect(),
        _ => vec![],
    };
    let fields = columns
        .iter()
        .map(|name| field(name, file, rows.iter().map(|row| &row[name])));
    let fields: Vec<Value> = fields.collect();
    let date = version
        .instances
        .iter()
        .map(|instance: &Instance| instance.merged_at.unwrap_or(instance.created_at))
        .max();
    Ok(json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "name": manifest.dataset.name,
        "description": manifest.dataset.description,
        "version": manifest.dataset.version,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "datePublished": date.map(|date| date.strftime("%Y-%m-%d").to_string()),
        "license": licences(version),
        "url": format!("https://github.com/{}", version.instances.first().map_or(String::new(), |instance| instance.repo.to_string())),
        "distribution": [{
            "@type": "cr:FileObject",
            "@id": file,
            "name": file,
            "contentUrl": file,
            "encodingFormat": "application/x-parquet",
            "sha256": sha256_hex(bytes),
        }],
        "recordSet": [{
            "@type": "cr:RecordSet",
            "@id": "instances",
            "name": "instances",
            "key": {"@id": "instances/instance_id"},
            "field": fields,
        }],
    }))
}

/// The context that the specification asks for, word for word.
fn context() -> Value {
    json!({
        "@language": "en",
        "@vocab": "https://schema.org/",
        "citeAs": "cr:citeAs",
        "column": "cr:column",
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/",
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "extract": "cr:extract",
        "field": "cr:field",
        "fileObject": "cr:fileObject",
        "fileProperty": "cr:fileProperty",
        "fileSet": "cr:fileSet",
        "format": "cr:format",
        "includes": "cr:includes",
        "isLiveDataset": "cr:isLiveDataset",
        "jsonPath": "cr:jsonPath",
        "key": "cr:key",
        "md5": "cr:md5",
        "parentField": "cr:parentField",
        "path": "cr:path",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "recordSet": "cr:recordSet",
        "references": "cr:references",
        "regex": "cr:regex",
        "repeated": "cr:repeated",
        "replace": "cr:replace",
        "sc": "https://schema.org/",
        "separator": "cr:separator",
        "source": "cr:source",
        "subField": "cr:subField",
        "transform": "cr:transform",
    })
}

/// Whose licence rows are under, and which these are as far as the repositories' own files name them.
fn licences(version: &Version) -> String {
    let named = version.manifest.sources.iter().filter_map(|source| {
        let licence = source.license.as_ref()?;
        Some(format!("{}: {licence}", source.repo))
    });
    let named: Vec<String> = named.collect();
    let text = "each row is under the licence of the repository that it names";
    if named.is_empty() {
        text.to_owned()
    } else {
        format!("{text} ({})", named.join(", "))
    }
}
