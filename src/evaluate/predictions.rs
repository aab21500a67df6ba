//! Predictions as the field writes them → one patch an instance, and the names of everything that is not one.
//!
//! Read are JSON lines, a JSON list, a JSON map by instance id, and a folder of `<instance_id>.diff`. A prediction has
//! `instance_id`, `model_patch` and `model_name_or_path`; `cost` and `steps` are taken along for comparisons; other keys
//! are passed over. A patch is bytes: what Python wrote with `surrogateescape` (`"\udcff"`) becomes that byte again, and
//! `model_patch_base64` holds any bytes at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::domain::base64;
use crate::domain::ids::InstanceId;
use crate::domain::text::without_line;

mod error;

pub use self::error::PredictionError;

/// What a model did for one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The instance.
    pub instance: InstanceId,
    /// Its patch, as given.
    pub patch: Vec<u8>,
    /// Who made it.
    pub model: String,
    /// What it cost, in whatever unit the predictions use.
    pub cost: Option<f64>,
    /// How many steps it took.
    pub steps: Option<f64>,
    /// Where it stands: `line 3`, or a file's name.
    pub place: String,
}

impl Prediction {
    /// Whether there is no patch in it.
    pub fn is_empty(&self) -> bool {
        self.patch.iter().all(u8::is_ascii_whitespace)
    }
}

/// Bytes out of a JSON string: its UTF-8, with escaped bytes as themselves.
#[derive(Debug, Default)]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(unescaped(bytes)))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Bytes, E> {
                Ok(Bytes::default())
            }
        }
        // Strings only: lone surrogates, which are no text, are given to a reader of bytes.
        deserializer.deserialize_bytes(Reader)
    }
}

/// `\udc80` to `\udcff` are how Python writes the bytes 0x80 to 0xff that are no UTF-8 (PEP 383); here they stand as the
/// three bytes of that code point.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, tail)) = rest.split_first() {
        if let [0xed, second @ 0xb2..=0xb3, third @ 0x80..=0xbf, after @ ..] = rest {
            out.push(((second & 0x03) << 6) | (third & 0x3f));
            rest = after;
        } else {
            out.push(first);
            rest = tail;
        }
    }
    out
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    instance_id: Option<String>,
    #[serde(default)]
    model_patch: Option<Bytes>,
    #[serde(default)]
    model_patch_base64: Option<String>,
    #[serde(default)]
    model_name_or_path: Option<String>,
    #[serde(default)]
    cost: Option<f64>,
    #[serde(default)]
    steps: Option<f64>,
}

/// A JSON object's members in order, repeated keys included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = vec![];
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Reader).map(Members)
    }
}

/// Reads a file of predictions. `file` is its name in messages.
///
/// # Errors
/// [`PredictionError::Faulty`] with every line that is wrong.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Prediction>, PredictionError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = Reader::default();
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => {}
        Some(b'[') => reader.list(bytes),
        Some(b'{') => {
            let first = bytes
                .split(|byte| *byte == b'\n')
                .find(|line| !line.trim_ascii().is_empty());
            let is_line = |line: &[u8]| serde_json::from_slice::<Members<'_>>(line).is_ok();
            let is_map = |members: &Members<'_>| !members.0.iter().any(|(key, _)| key == "instance_id");
            match serde_json::from_slice::<Members<'_>>(bytes) {
                Ok(members) if is_map(&members) => reader.map(bytes, members),
                Ok(_) => reader.entry(1, None, bytes.trim_ascii()),
                Err(_) if first.is_some_and(is_line) => reader.lines(bytes),
                Err(error) => reader.fault(error.line(), &error),
            }
        }
        Some(_) => reader.lines(bytes),
    }
    reader.done(file)
}

/// Reads a folder's files, by name: `<instance_id>.diff` or `.patch`. The folder's name is the model's.
///
/// # Errors
/// [`PredictionError::Faulty`] with every file that is none.
pub fn from_files(folder: &str, files: Vec<(String, Vec<u8>)>) -> Result<Vec<Prediction>, PredictionError> {
    let mut reader = Reader::default();
    let model = folder.trim_end_matches('/');
    let model = model.rsplit('/').next().unwrap_or(model);
    for (name, patch) in files {
        let stem = [".diff", ".patch"].iter().find_map(|end| name.strip_suffix(end));
        match stem {
            Some(stem) if !stem.is_empty() => reader.found.push(Prediction {
                instance: stem.into(),
                patch,
                model: model.to_owned(),
                cost: None,
                steps: None,
                place: name,
            }),
            _ => reader.faults.push((
                name,
                "it is neither `<instance_id>.diff` nor `<instance_id>.patch`".to_owned(),
            )),
        }
    }
    reader.done(folder)
}

#[derive(Default)]
struct Reader {
    found: Vec<Prediction>,
    faults: Vec<(String, String)>,
}

impl Reader {
    fn done(self, file: &str) -> Result<Vec<Prediction>, PredictionError> {
        if self.faults.is_empty() {
            return Ok(self.found);
        }
        Err(PredictionError::Faulty {
            file: file.to_owned(),
            faults: self.faults,
        })
    }

    fn fault(&mut self, line: usize, what: &impl ToString) {
        self.faults.push((format!("line {line}"), what.to_string()));
    }

    fn lines(&mut self, bytes: &[u8]) {
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if !line.trim_ascii().is_empty() {
                self.entry(index + 1, None, line);
            }
        }
    }

    fn list(&mut self, bytes: &[u8]) {
        match serde_json::from_slice::<Vec<&RawValue>>(bytes) {
            Err(error) => self.fault(error.line(), &error),
            Ok(entries) => {
                for raw in entries {
                    self.entry(line_of(bytes, raw), None, raw.get().as_bytes());
                }
            }
        }
    }

    fn map(&mut self, bytes: &[u8], members: Members<'_>) {
        for (id, raw) in members.0 {
            let line = line_of(bytes, raw);
            // A patch by itself, too.
            if raw.get().starts_with('"') {
                match serde_json::from_str::<Bytes>(raw.get()) {
                    Ok(patch) => self.take(line, &id, patch.0, None, None, None),
                    Err(error) => self.fault(line, &without_line(&error)),
                }
            } else {
                self.entry(line, Some(&id), raw.get().as_bytes());
            }
        }
    }

    /// One prediction's JSON; `key` is its key in a map.
    fn entry(&mut self, line: usize, key: Option<&str>, json: &[u8]) {
        let entry: Entry = match serde_json::from_slice(json) {
            Ok(entry) => entry,
            Err(error) => {
                // The line of a value within the file is the value's own, moved by where it begins.
                return self.fault(line + error.line().saturating_sub(1), &without_line(&error));
            }
        };
        let Some(id) = entry.instance_id.as_deref().or(key) else {
            return self.fault(line, &"it has no `instance_id`");
        };
        if key.is_some_and(|key| InstanceId::named(key) != InstanceId::named(id)) {
            return self.fault(line, &format!("its `instance_id` is `{id}`, its key another"));
        }
        let patch = match (entry.model_patch, entry.model_patch_base64) {
            (Some(patch), None) => patch.0,
            (None, Some(text)) => match base64::decode(&text) {
                Some(patch) => patch,
                None => return self.fault(line, &"its `model_patch_base64` is no base64"),
            },
            (None, None) => vec![],
            (Some(_), Some(_)) => {
                return self.fault(line, &"it has `model_patch` and `model_patch_base64`");
            }
        };
        let id = id.to_owned();
        self.take(
            line,
            &id,
            patch,
            entry.model_name_or_path,
            entry.cost,
            entry.steps,
        );
    }

    fn take(
        &mut self,
        line: usize,
        id: &str,
        patch: Vec<u8>,
        model: Option<String>,
        cost: Option<f64>,
        steps: Option<f64>,
    ) {
        self.found.push(Prediction {
            instance: InstanceId::named(id),
            patch,
            model: model.unwrap_or_default(),
            cost,
            steps,
            place: format!("line {line}"),
        });
    }
}

/// The line on which a value of `bytes` begins.
fn line_of(bytes: &[u8], raw: &RawValue) -> usize {
    let start = (raw.get().as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
    1 + memchr::memchr_iter(b'\n', &bytes[..start.min(bytes.len())]).count()
}

/// A prediction that is named and not evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The instance that it names.
    pub instance: InstanceId,
    /// Where it stands.
    pub place: String,
}

/// Which predictions are evaluated, and what is to be said of the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settled {
    /// The model.
    pub model: String,
    /// One an instance, those without a patch among them.
    pub predictions: BTreeMap<InstanceId, Prediction>,
    /// Predictions for no instance of the version.
    pub unknown: Vec<Named>,
    /// Predictions that a later one for the same instance replaces.
    pub replaced: Vec<Named>,
    /// Instances without a prediction.
    pub missing: Vec<InstanceId>,
    /// Instances whose prediction holds no patch.
    pub empty: Vec<InstanceId>,
}

/// Sorts predictions: those of `model` (or of the only one there is) for the instances of `known`. Of several for one
/// instance the last stands, as in SWE-bench's harness.
///
/// # Errors
/// When there are several models and none was chosen, or nothing is left.
pub fn settle(
    file: &str,
    all: Vec<Prediction>,
    known: &BTreeSet<InstanceId>,
    model: Option<&str>,
) -> Result<Settled, PredictionError> {
    if all.is_empty() {
        return Err(PredictionError::Nothing {
            file: file.to_owned(),
        });
    }
    let models: BTreeSet<String> = all.iter().map(|prediction| prediction.model.clone()).collect();
    let models: Vec<String> = models.into_iter().collect();
    let chosen = match (model, models.as_slice()) {
        (Some(model), _) if !models.iter().any(|known| known == model) => {
            return Err(PredictionError::NoModel {
                file: file.to_owned(),
                model: model.to_owned(),
                models,
            });
        }
        (Some(model), _) => model.to_owned(),
        (None, []) => String::new(),
        (None, [only]) => only.clone(),
        (None, _) => {
            return Err(PredictionError::Models {
                file: file.to_owned(),
                models,
            });
        }
    };
    let mut settled = Settled {
        model: chosen,
        ..Settled::default()
    };
    for prediction in all.into_iter().filter(|one| one.model == settled.model) {
        if !known.contains(&prediction.instance) {
            settled.unknown.push(named(&prediction));
        } else if let Some(earlier) = settled
            .predictions
            .insert(prediction.instance.clone(), prediction)
        {
            settled.replaced.push(named(&earlier));
        }
    }
    if settled.predictions.is_empty() {
        return Err(PredictionError::Strangers {
            file: file.to_owned(),
            strangers: settled.unknown,
        });
    }
    settled.missing = known
        .iter()
        .filter(|id| !settled.predictions.contains_key(*id))
        .cloned()
        .collect();
    settled.empty = settled
        .predictions
        .values()
        .filter(|prediction| prediction.is_empty())
        .map(|prediction| prediction.instance.clone())
        .collect();
    Ok(settled)
}

fn named(prediction: &Prediction) -> Named {
    Named {
        instance: prediction.instance.clone(),
        place: prediction.place.clone(),
    }
}

#[cfg(test)]
mod tests;
