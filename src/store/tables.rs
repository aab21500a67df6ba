//! Reads and writes of each table. Lists come back in a fixed order: by repository and number, then by sequence.

use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{MINE_SCOPE, Store, StoreError};
use crate::domain::attempt::{Attempt, Stage};
use crate::domain::candidate::Candidate;
use crate::domain::decision::Decision;
use crate::domain::ids::{CandidateId, RepoName};

/// The columns of an attempt.
const ATTEMPTS: &str =
    "SELECT candidate, stage, input_key, outcome, reason, detail, log, result FROM attempts";

/// A row as text by column.
struct Row {
    columns: Arc<[String]>,
    cells: Vec<Option<String>>,
}

impl Row {
    fn get(&self, column: &str) -> Option<&str> {
        let index = self.columns.iter().position(|name| name == column)?;
        self.cells.get(index)?.as_deref()
    }

    fn text(&self, column: &str) -> &str {
        self.get(column).unwrap_or_default()
    }

    fn is(&self, column: &str) -> bool {
        self.get(column) == Some("1")
    }
}

fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

impl Store {
    fn parse<T: DeserializeOwned>(&self, what: &str, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|source| StoreError::Row {
            path: self.path().to_owned(),
            what: what.to_owned(),
            source,
        })
    }

    /// Records a batch of mining in one transaction: candidates (a known one is replaced), mining's own decisions
    /// (the last one of a pull request is what holds, so one that was taken before is taken again after another; a candidate
    /// that is dropped now is one no longer), and where to go on.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be written; then nothing of the batch is.
    pub fn put_mined(
        &self,
        candidates: Vec<Candidate>,
        decisions: Vec<Decision>,
        cursor: Option<(String, serde_json::Value)>,
    ) -> Result<(), StoreError> {
        self.transact(move |transaction| {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO candidates (id, repo, number, data) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (id) DO UPDATE SET data = excluded.data",
            )?;
            for candidate in &candidates {
                let id = &candidate.id;
                insert.execute(params![
                    id.to_string(),
                    id.repo.to_string(),
                    id.number,
                    to_json(candidate)?
                ])?;
            }
            // A pull request that is a candidate no longer must not stay one beside its new decision.
            let mut withdraw = transaction.prepare_cached("DELETE FROM candidates WHERE id = ?1")?;
            for decision in decisions.iter().filter(|decision| !decision.kept) {
                withdraw.execute([decision.candidate.to_string()])?;
            }
            append_latest(transaction, MINE_SCOPE, decisions)?;
            if let Some((name, data)) = cursor {
                put_cursor(transaction, &name, &data)?;
            }
            Ok(())
        })
    }

    /// Every candidate of a repository (of all, for `None`), by repository and number.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read or a row is not a candidate.
    pub fn candidates(&self, repo: Option<&RepoName>) -> Result<Vec<Candidate>, StoreError> {
        let repo = repo.map(ToString::to_string);
        let rows = self.transact(move |transaction| {
            let mut query = transaction.prepare_cached(
                "SELECT id, data FROM candidates WHERE ?1 IS NULL OR repo = ?1 ORDER BY repo, number",
            )?;
            let rows = query.query_map([repo], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
        })?;
        rows.iter().map(|(id, data)| self.parse(id, data)).collect()
    }

    /// Whom attempts are about, each once.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read or a row is not an attempt.
    pub fn tried(&self) -> Result<Vec<CandidateId>, StoreError> {
        let names = self.transact(|transaction| {
            let mut query =
                transaction.prepare_cached("SELECT DISTINCT candidate FROM attempts ORDER BY candidate")?;
            let rows = query.query_map([], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        names
            .into_iter()
            .map(|name| self.parse(&name, &serde_json::Value::from(name.as_str()).to_string()))
            .collect()
    }

    /// The repository's name as it was first mined, where it was mined under this name in other letters, or as it is in an
    /// attempt; else this name.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn spelled(&self, repo: &RepoName) -> Result<RepoName, StoreError> {
        let names = self.transact(|transaction| {
            // Mining's cursors: `mine:owner/name/N`.
            let mut query = transaction.prepare_cached(
                "SELECT name FROM cursors WHERE name >= 'mine:' AND name < 'mine;' ORDER BY name",
            )?;
            let rows = query.query_map([], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let known = names.iter().filter_map(|name| {
            let (name, _) = name.strip_prefix("mine:")?.rsplit_once('/')?;
            name.parse::<RepoName>().ok()
        });
        if let Some(mined) = known.into_iter().find(|known| known.is(repo)) {
            return Ok(mined);
        }
        let mut tried = self.tried()?.into_iter().map(|id| id.repo);
        Ok(tried.find(|tried| tried.is(repo)).unwrap_or_else(|| repo.clone()))
    }

    /// One candidate, if mining found it merged.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read or the row is not a candidate.
    pub fn candidate(&self, id: &CandidateId) -> Result<Option<Candidate>, StoreError> {
        let key = id.to_string();
        let row: Option<String> = self.transact(move |transaction| {
            transaction
                .query_row("SELECT data FROM candidates WHERE id = ?1", [key], |row| {
                    row.get(0)
                })
                .optional()
        })?;
        row.map(|data| self.parse(&id.to_string(), &data)).transpose()
    }

    /// Appends decisions of a recipe (`scope` is the dataset's name). One that was taken before on the same input
    /// (same candidate, rule and key) is not written again.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be written; then none is.
    pub fn append_decisions(&self, scope: &str, decisions: Vec<Decision>) -> Result<(), StoreError> {
        let scope = scope.to_owned();
        self.transact(move |transaction| append_decisions(transaction, &scope, &decisions))
    }

    /// Every decision of a scope, by repository, number and sequence; for one candidate where given.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read or a row is not a decision.
    pub fn decisions(
        &self,
        scope: Option<&str>,
        candidate: Option<&CandidateId>,
    ) -> Result<Vec<(String, Decision)>, StoreError> {
        let (scope, candidate) = (scope.map(str::to_owned), candidate.map(ToString::to_string));
        let rows = self.rows(
            "SELECT scope, candidate, rule, verdict, kept, observed, evidence, input_key FROM decisions
             WHERE (?1 IS NULL OR scope = ?1) AND (?2 IS NULL OR candidate = ?2) ORDER BY seq",
            [scope, candidate],
        )?;
        let mut decisions = rows
            .iter()
            .map(|row| {
                let decision = Decision {
                    candidate: self.word(row, "candidate")?,
                    rule: row.text("rule").into(),
                    verdict: self.word(row, "verdict")?,
                    kept: row.is("kept"),
                    observed: self.parse(row.text("candidate"), row.text("observed"))?,
                    evidence: row.text("evidence").to_owned(),
                    input_key: row.text("input_key").to_owned(),
                };
                Ok((row.text("scope").to_owned(), decision))
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        // Stable: within a candidate the order of recording stays.
        decisions.sort_by(|(_, a), (_, b)| a.candidate.cmp(&b.candidate));
        Ok(decisions)
    }

    /// Appends one attempt.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be written.
    pub fn append_attempt(&self, attempt: Attempt) -> Result<(), StoreError> {
        self.transact(move |transaction| {
            let result = attempt.result.as_ref().map(to_json).transpose()?;
            transaction
                .prepare_cached(
                    "INSERT INTO attempts (candidate, stage, input_key, outcome, reason, detail, log, result)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute(params![
                    attempt.candidate.to_string(),
                    attempt.stage.name(),
                    attempt.input_key,
                    attempt.outcome.name(),
                    attempt.reason,
                    attempt.detail,
                    attempt.log.map(|log| log.to_string()),
                    result,
                ])?;
            Ok(())
        })
    }

    /// Attempts, oldest first, narrowed by stage and candidate where given.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read or a row is not an attempt.
    pub fn attempts(
        &self,
        stage: Option<Stage>,
        candidate: Option<&CandidateId>,
    ) -> Result<Vec<Attempt>, StoreError> {
        let (stage, candidate) = (stage.map(Stage::name), candidate.map(ToString::to_string));
        let rows = self.rows(
            &format!(
                "{ATTEMPTS} WHERE (?1 IS NULL OR stage = ?1) AND (?2 IS NULL OR candidate = ?2) ORDER BY seq"
            ),
            [stage.map(str::to_owned), candidate],
        )?;
        rows.iter().map(|row| self.attempt(row)).collect()
    }

    /// Attempts of a stage under one key, whoever they were for, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read or a row is not an attempt.
    pub fn attempts_by_key(&self, stage: Stage, input_key: &str) -> Result<Vec<Attempt>, StoreError> {
        let rows = self.rows(
            &format!("{ATTEMPTS} WHERE stage = ?1 AND input_key = ?2 ORDER BY seq"),
            [Some(stage.name().to_owned()), Some(input_key.to_owned())],
        )?;
        rows.iter().map(|row| self.attempt(row)).collect()
    }

    fn attempt(&self, row: &Row) -> Result<Attempt, StoreError> {
        let result = row.get("result");
        Ok(Attempt {
            candidate: self.word(row, "candidate")?,
            stage: self.word(row, "stage")?,
            input_key: row.text("input_key").to_owned(),
            outcome: self.word(row, "outcome")?,
            reason: row.text("reason").to_owned(),
            detail: row.text("detail").to_owned(),
            log: row.get("log").map(|_| self.word(row, "log")).transpose()?,
            result: result
                .map(|result| self.parse(row.text("candidate"), result))
                .transpose()?,
        })
    }

    /// Every row of a query with two parameters, as text by column.
    fn rows(&self, query: &str, parameters: [Option<String>; 2]) -> Result<Vec<Row>, StoreError> {
        let query = query.to_owned();
        self.transact(move |transaction| {
            let mut query = transaction.prepare_cached(&query)?;
            let columns: Arc<[String]> = query.column_names().map(str::to_owned).collect();
            let rows = query.query_map(parameters, |row| {
                let cell = |index| match row.get_ref(index)? {
                    ValueRef::Null => Ok(None),
                    ValueRef::Integer(number) => Ok(Some(number.to_string())),
                    value => Ok(Some(value.as_str()?.to_owned())),
                };
                Ok(Row {
                    columns: Arc::clone(&columns),
                    cells: (0..columns.len()).map(cell).collect::<rusqlite::Result<_>>()?,
                })
            })?;
            rows.collect()
        })
    }

    /// A column that holds one word of a type that serde reads from a string.
    fn word<T: DeserializeOwned>(&self, row: &Row, column: &str) -> Result<T, StoreError> {
        let what = format!("{} of {}", column, row.text("candidate"));
        self.parse(&what, &serde_json::Value::from(row.text(column)).to_string())
    }

    /// Replaces a dataset's instances, whole.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be written; then the old ones stay.
    pub fn put_instances(
        &self,
        dataset: &str,
        instances: Vec<(CandidateId, serde_json::Value)>,
    ) -> Result<(), StoreError> {
        let dataset = dataset.to_owned();
        self.transact(move |transaction| {
            transaction.execute("DELETE FROM instances WHERE dataset = ?1", [&dataset])?;
            let mut insert = transaction
                .prepare_cached("INSERT INTO instances (dataset, candidate, data) VALUES (?1, ?2, ?3)")?;
            for (candidate, data) in &instances {
                insert.execute(params![dataset, candidate.to_string(), to_json(data)?])?;
            }
            Ok(())
        })
    }

    /// How many instances each dataset has, by name.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn instance_counts(&self) -> Result<Vec<(String, i64)>, StoreError> {
        self.transact(|transaction| {
            let mut query = transaction.prepare_cached(
                "SELECT dataset, COUNT(*) FROM instances GROUP BY dataset ORDER BY dataset",
            )?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// Where a reader stopped, if it ever started.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn cursor(&self, name: &str) -> Result<Option<serde_json::Value>, StoreError> {
        let key = name.to_owned();
        let row: Option<String> = self.transact(move |transaction| {
            transaction
                .query_row("SELECT data FROM cursors WHERE name = ?1", [key], |row| {
                    row.get(0)
                })
                .optional()
        })?;
        row.map(|data| self.parse(name, &data)).transpose()
    }

    /// Every cursor whose name starts with `prefix`, by name.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be read.
    pub fn cursors(&self, prefix: &str) -> Result<Vec<(String, serde_json::Value)>, StoreError> {
        let rows = self.transact(|transaction| {
            let mut query = transaction.prepare_cached("SELECT name, data FROM cursors ORDER BY name")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
        })?;
        rows.into_iter()
            .filter(|(name, _)| name.starts_with(prefix))
            .map(|(name, data)| Ok((name.clone(), self.parse(&name, &data)?)))
            .collect()
    }

    /// Moves a cursor.
    ///
    /// # Errors
    /// [`StoreError`] when the ledger cannot be written.
    pub fn put_cursor(&self, name: &str, data: serde_json::Value) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.transact(move |transaction| put_cursor(transaction, &name, &data))
    }
}

/// Appends decisions so that the last one on each candidate is the one given here: nothing for a candidate whose last one is
/// just that, else a new row; its key has a counter where the same decision was taken before others.
fn append_latest(
    transaction: &Transaction<'_>,
    scope: &str,
    mut decisions: Vec<Decision>,
) -> rusqlite::Result<()> {
    let mut rows = transaction.prepare_cached(
        "SELECT rule, input_key FROM decisions WHERE scope = ?1 AND candidate = ?2 ORDER BY seq",
    )?;
    let mut fresh = Vec::with_capacity(decisions.len());
    for mut decision in decisions.drain(..) {
        let known = rows
            .query_map(params![scope, decision.candidate.to_string()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
        let is_same = |(rule, key): &&(String, String)| {
            rule == decision.rule.as_str() && key.split('+').next() == Some(&decision.input_key)
        };
        if known.last().as_ref().is_some_and(is_same) {
            continue;
        }
        let before = known.iter().filter(is_same).count();
        if before > 0 {
            decision.input_key = format!("{}+{before}", decision.input_key);
        }
        fresh.push(decision);
    }
    append_decisions(transaction, scope, &fresh)
}

fn put_cursor(transaction: &Transaction<'_>, name: &str, data: &serde_json::Value) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO cursors (name, data) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET data = excluded.data",
        params![name, to_json(data)?],
    )?;
    Ok(())
}

fn append_decisions(
    transaction: &Transaction<'_>,
    scope: &str,
    decisions: &[Decision],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO decisions (scope, candidate, rule, verdict, kept, observed, evidence, input_key)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (scope, candidate, rule, input_key) DO NOTHING",
    )?;
    for decision in decisions {
        insert.execute(params![
            scope,
            decision.candidate.to_string(),
            decision.rule.as_str(),
            decision.verdict.name(),
            decision.kept,
            to_json(&decision.observed)?,
            decision.evidence,
            decision.input_key,
        ])?;
    }
    Ok(())
}
