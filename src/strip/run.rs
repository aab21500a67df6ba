//! The shell: a source (a folder, or a commit of a mirror) through the stage into a sink (a folder, in place, a tar, a
//! git tree). Workers get large stacks, because a deep tree is dropped by recursion; a panic on one file is that
//! file's fault and no other's.

mod commit;
mod error;
mod folder;
mod judge;
mod record;
mod tar;
mod variants;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

pub use commit::{CommitSource, TreeSink};
pub use error::StripError;
pub use folder::{FolderSink, FolderSource, InPlaceSink, is_restorable, replace};
pub use judge::{Judge, Verdict, judged};
pub use record::{VariantRequest, Varied, make_variants};
pub use tar::TarSink;
pub use variants::{STAGE_VERSION, VariantTree, input_key, variants};

use super::context;
use super::docs_files::{self, Candidates, Fate, References};
use super::policy::Policy;
use super::python::{Facts, Stripped, Untouched};
use super::report::{
    ContextReport, DocumentationReport, FileReport, Leak, LeakCategory, Report, Skipped, VERSION,
};
use super::tree::{Entry, Language, language, leak, link_target};
use super::{Mode, Variant, cython, notebook, python};
use crate::domain::patch::EntryKind;
use crate::domain::path::RepoPath;

/// What a worker's stack takes: the deepest tree that is parsed, dropped and compared, several times over.
const STACK_BYTES: usize = 512 << 20;
/// Entries that are worked on before results are handed to a sink in order.
const BATCH: usize = 256;

/// How a tree is stripped.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Which variant.
    pub variant: Variant,
    /// By which rules.
    pub policy: Policy,
    /// Threads; 0 means one a core.
    pub jobs: usize,
    /// A second judge: an interpreter.
    pub verify_with: Option<String>,
}

/// Where a tree comes from.
pub trait Source: Sync {
    /// What one thread reads with.
    type Reader: Send;
    /// Every entry, sorted by path, and what was passed over.
    ///
    /// # Errors
    /// When the tree itself cannot be read.
    fn entries(&self) -> Result<(Vec<Entry>, Vec<Skipped>), StripError>;
    /// A reader for one thread.
    ///
    /// # Errors
    /// When the tree cannot be opened.
    fn reader(&self) -> Result<Self::Reader, StripError>;
    /// A file's bytes, or a link's text.
    ///
    /// # Errors
    /// What the system said, for the report.
    fn read(&self, reader: &mut Self::Reader, entry: &Entry) -> Result<Vec<u8>, String>;
}

/// What is written for one entry.
#[derive(Debug)]
pub enum Content {
    /// The source's own bytes.
    Same(Vec<u8>),
    /// Other bytes.
    New(Vec<u8>),
    /// Nothing: the entry is gone.
    Gone,
    /// Nothing, for it could not be read: in place, it stays.
    Unread,
}

/// Where a tree goes.
pub trait Sink: Sync {
    /// Writes an entry from any thread, in any order; gives back what has to be written in order.
    ///
    /// # Errors
    /// When it cannot be written.
    fn put(&self, entry: &Entry, content: Content) -> Result<Option<Content>, StripError>;
    /// Writes an entry that [`Sink::put`] gave back; a sink that gives nothing back has nothing to do.
    ///
    /// # Errors
    /// When it cannot be written.
    fn put_in_order(&mut self, _entry: &Entry, _content: Content) -> Result<(), StripError> {
        Ok(())
    }
}

/// A pool whose threads have the stacks that this stage needs.
///
/// # Errors
/// When the threads cannot be started.
pub fn pool(jobs: usize) -> Result<rayon::ThreadPool, StripError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .stack_size(STACK_BYTES)
        .thread_name(|index| format!("strip-{index}"))
        .build()
        .map_err(|error| StripError::Threads(error.to_string()))
}

/// Strips one file by its name, whatever it holds. Call it on a thread of [`pool`].
pub fn strip_file(path: &RepoPath, bytes: &[u8], policy: &Policy) -> Option<Stripped> {
    let work: Box<dyn Fn() -> Stripped + '_> = match language(path) {
        Language::Python(dialect) => Box::new(move || python::strip(bytes, dialect, policy)),
        Language::Notebook if policy.mode == Mode::Safe => Box::new(|| notebook::strip(bytes, policy)),
        Language::Cython if policy.mode == Mode::Safe => Box::new(|| cython::strip(bytes, policy)),
        _ => return None,
    };
    Some(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default();
        Stripped {
            untouched: Some(Untouched::Fault { message }),
            ..Stripped::default()
        }
    }))
}

/// What one entry gave.
struct Done {
    content: Option<Content>,
    file: Option<FileReport>,
    leaks: Vec<Leak>,
    references: References,
    skipped: Option<Skipped>,
}

/// Makes a variant of a whole tree.
///
/// # Errors
/// [`StripError`] when the tree as a whole cannot be read or written; what goes wrong with a file is in the report.
pub fn run<S: Source, D: Sink>(source: &S, sink: &mut D, settings: &Settings) -> Result<Report, StripError> {
    let (entries, skipped) = source.entries()?;
    let mut report = Report {
        version: VERSION,
        variant: settings.variant,
        policy: settings.policy.clone(),
        totals: crate::strip::report::Totals::default(),
        files: vec![],
        documentation: vec![],
        leaks: vec![],
        context: vec![],
        skipped,
    };
    let is_code_only = settings.variant == Variant::CodeOnly;
    let candidates = Candidates::among(
        entries
            .iter()
            .filter(|entry| is_code_only && entry.kind != EntryKind::Symlink)
            .map(|entry| &entry.path),
        settings.policy.mode,
    );
    // Links come last: one whose target is gone would lead nowhere.
    let (links, rest): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.kind == EntryKind::Symlink);
    let (documents, others): (Vec<&Entry>, Vec<&Entry>) = rest
        .into_iter()
        .partition(|entry| is_code_only && docs_files::is_candidate(&entry.path));
    let mut referrers: Vec<Vec<&RepoPath>> = vec![vec![]; candidates.paths().len()];
    let pool = pool(settings.jobs)?;
    let work = Work {
        source,
        settings,
        candidates: &candidates,
    };
    let readers = work.readers(pool.current_num_threads())?;
    for batch in others.chunks(BATCH) {
        let shared: &D = sink;
        let done = pool.install(|| work.batch(&readers, batch, shared, None))?;
        for (entry, done) in batch.iter().zip(done) {
            for index in done.references.iter() {
                referrers[index].push(&entry.path);
            }
            take(&mut report, sink, entry, done)?;
        }
    }
    let fates = candidates.fates(&referrers);
    let mut at = 0;
    while at < documents.len() {
        let end = (at + BATCH).min(documents.len());
        let batch = &documents[at..end];
        let shared: &D = sink;
        let done = pool.install(|| work.batch(&readers, batch, shared, Some(&fates[at..end])))?;
        for (offset, done) in done.into_iter().enumerate() {
            let entry = batch[offset];
            let index = at + offset;
            let bytes = done.file.as_ref().map_or(0, |file| file.bytes_before);
            if fates[index] != Fate::Removed && fates[index] != Fate::Stub && done.leaks.is_empty() {
                report.leaks.push(Leak {
                    category: LeakCategory::Documentation,
                    path: entry.path.clone(),
                    line: None,
                });
            }
            report.documentation.push(DocumentationReport {
                path: entry.path.clone(),
                fate: fates[index],
                bytes,
                referrers: referrers[index].iter().map(|path| (*path).clone()).collect(),
            });
            let is_source = !matches!(language(&entry.path), Language::Other);
            let done = Done {
                file: done.file.filter(|_| is_source && fates[index] != Fate::Removed),
                ..done
            };
            take(&mut report, sink, entry, done)?;
        }
        at = end;
    }
    let left: BTreeSet<&RepoPath> = others
        .iter()
        .map(|entry| &entry.path)
        .chain(
            documents
                .iter()
                .zip(&fates)
                .filter(|(_, fate)| **fate != Fate::Removed)
                .map(|(entry, _)| &entry.path),
        )
        .filter(|path| settings.variant != Variant::NoContext || context::reader(path).is_none())
        .collect();
    let all: BTreeSet<&RepoPath> = others.iter().chain(&documents).map(|entry| &entry.path).collect();
    put_links(source, sink, &links, &left, &all, &mut report)?;
    report.finish();
    Ok(report)
}

fn take<D: Sink>(report: &mut Report, sink: &mut D, entry: &Entry, done: Done) -> Result<(), StripError> {
    report.files.extend(done.file);
    report.leaks.extend(done.leaks);
    report.skipped.extend(done.skipped);
    if let Some(reader) = context::reader(&entry.path) {
        if report.variant == Variant::NoContext {
            report.context.push(ContextReport {
                path: entry.path.clone(),
                reader: reader.to_owned(),
            });
        } else if report.variant == Variant::CodeOnly && !docs_files::is_candidate(&entry.path) {
            report.leaks.push(Leak {
                category: LeakCategory::AgentContext,
                path: entry.path.clone(),
                line: None,
            });
        }
    }
    match done.content {
        Some(content) => sink.put_in_order(entry, content),
        None => Ok(()),
    }
}

/// Writes the links, except by their names documentation, and except those to what is gone.
fn put_links<S: Source, D: Sink>(
    source: &S,
    sink: &mut D,
    links: &[&Entry],
    left: &BTreeSet<&RepoPath>,
    all: &BTreeSet<&RepoPath>,
    report: &mut Report,
) -> Result<(), StripError> {
    let mut reader = source.reader()?;
    // Whether a path, or anything below it, is in a set.
    let holds = |paths: &BTreeSet<&RepoPath>, path: &RepoPath| {
        let inside = [path.as_bytes(), b"/"].concat();
        let below = RepoPath::from(inside.as_slice());
        paths.contains(path)
            || paths
                .range::<&RepoPath, _>(&below..)
                .next()
                .is_some_and(|next| next.as_bytes().starts_with(&inside))
    };
    for entry in links {
        let target = match source.read(&mut reader, entry) {
            Ok(target) => target,
            Err(message) => {
                report.files.push(unreadable(entry, message));
                continue;
            }
        };
        let leads = link_target(&entry.path, &target);
        let is_dangling = leads
            .as_ref()
            .is_some_and(|leads| holds(all, leads) && !holds(left, leads));
        let is_document = report.variant == Variant::CodeOnly && docs_files::is_candidate(&entry.path);
        let is_context = report.variant == Variant::NoContext && context::reader(&entry.path).is_some();
        let content = if is_dangling || is_document || is_context {
            let reason = match leads {
                Some(leads) if is_dangling => format!("a link to `{leads}`, which is gone"),
                _ => "a link with the name of what goes".to_owned(),
            };
            report.skipped.push(Skipped {
                path: entry.path.clone(),
                reason,
                refused: false,
            });
            Content::Gone
        } else {
            Content::Same(target)
        };
        if let Some(content) = sink.put(entry, content)? {
            sink.put_in_order(entry, content)?;
        }
    }
    Ok(())
}

fn unreadable(entry: &Entry, message: String) -> FileReport {
    let why = Untouched::Unreadable { message };
    FileReport::new(entry.path.clone(), &[], None, Some(why), &Facts::default())
}

struct Work<'run, S> {
    source: &'run S,
    settings: &'run Settings,
    candidates: &'run Candidates,
}

/// What one thread works with.
struct Desk<R> {
    reader: R,
    judge: Option<Judge>,
}

impl<S: Source> Work<'_, S> {
    fn readers(&self, threads: usize) -> Result<Vec<std::sync::Mutex<Desk<S::Reader>>>, StripError> {
        (0..threads)
            .map(|_| {
                let judge = self
                    .settings
                    .verify_with
                    .as_deref()
                    .map(Judge::start)
                    .transpose()?;
                Ok(std::sync::Mutex::new(Desk {
                    reader: self.source.reader()?,
                    judge,
                }))
            })
            .collect()
    }

    fn batch<D: Sink>(
        &self,
        desks: &[std::sync::Mutex<Desk<S::Reader>>],
        batch: &[&Entry],
        sink: &D,
        fates: Option<&[Fate]>,
    ) -> Result<Vec<Done>, StripError> {
        batch
            .par_iter()
            .enumerate()
            .map(|(index, entry)| {
                let thread = rayon::current_thread_index().unwrap_or(0);
                // Each thread has its own desk; a panic of another's work leaves it usable.
                let mut desk = desks[thread]
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                let fate = fates.map(|fates| fates[index]);
                let (content, mut done) = self.one(&mut desk, entry, fate)?;
                done.content = sink.put(entry, content)?;
                Ok(done)
            })
            .collect()
    }

    fn one(
        &self,
        desk: &mut Desk<S::Reader>,
        entry: &Entry,
        fate: Option<Fate>,
    ) -> Result<(Content, Done), StripError> {
        let mut done = Done {
            content: None,
            file: None,
            leaks: vec![],
            references: References::default(),
            skipped: None,
        };
        if entry.kind == EntryKind::Submodule {
            done.skipped = Some(Skipped {
                path: entry.path.clone(),
                reason: "another repository".into(),
                refused: false,
            });
            return Ok((Content::Same(vec![]), done));
        }
        let bytes = match self.source.read(&mut desk.reader, entry) {
            Ok(bytes) => bytes,
            Err(message) => {
                done.file = Some(unreadable(entry, message));
                return Ok((Content::Unread, done));
            }
        };
        if self.settings.variant == Variant::NoContext && context::reader(&entry.path).is_some() {
            return Ok((Content::Gone, done));
        }
        let whole = fate.is_some_and(|fate| matches!(fate, Fate::Removed | Fate::Stub));
        if whole || self.settings.variant != Variant::CodeOnly {
            if fate.is_some() {
                done.file = Some(FileReport::new(
                    entry.path.clone(),
                    &bytes,
                    None,
                    None,
                    &Facts::default(),
                ));
            }
            let content = match fate {
                Some(Fate::Removed) => Content::Gone,
                Some(Fate::Stub) => Content::New(vec![]),
                _ => Content::Same(bytes),
            };
            return Ok((content, done));
        }
        let policy = &self.settings.policy;
        let Some(mut stripped) = strip_file(&entry.path, &bytes, policy) else {
            done.references = self.candidates.references(&entry.path, &bytes);
            done.leaks.extend(leak(&entry.path).map(|category| Leak {
                category,
                path: entry.path.clone(),
                line: None,
            }));
            if fate.is_some() {
                done.file = Some(FileReport::new(
                    entry.path.clone(),
                    &bytes,
                    None,
                    None,
                    &Facts::default(),
                ));
            }
            return Ok((Content::Same(bytes), done));
        };
        if let Some(judge) = &mut desk.judge {
            stripped = judged(&entry.path, &bytes, stripped, judge, policy)?;
        }
        let Stripped {
            bytes: new,
            untouched,
            facts,
        } = stripped;
        done.leaks = FileReport::leaks(&entry.path, untouched.is_some(), &facts);
        if leak(&entry.path) == Some(LeakCategory::Example) {
            done.leaks.push(Leak {
                category: LeakCategory::Example,
                path: entry.path.clone(),
                line: None,
            });
        }
        done.file = Some(FileReport::new(
            entry.path.clone(),
            &bytes,
            new.as_deref(),
            untouched,
            &facts,
        ));
        done.references = self
            .candidates
            .references(&entry.path, new.as_deref().unwrap_or(&bytes));
        Ok((new.map_or_else(|| Content::Same(bytes), Content::New), done))
    }
}
