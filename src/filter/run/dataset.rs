//! A recipe's rules over the rows of a dataset.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek as _, Write};
use std::ops::Range;

use camino::Utf8PathBuf;
use rayon::prelude::*;
use serde::Serialize;

use super::batch::{Batches, Lines, pieces};
use super::parquet::ParquetRows;
use super::selection_log::LogWriter;
use super::sink::{Kept, Sink};
use super::{FilterError, parquet};
use crate::domain::event::Event;
use crate::domain::patch::{FileChange, Part};
use crate::filter::compile::{Program, compile};
use crate::filter::dataset::{Field, Needs, Row, log, scan};
use crate::filter::eval::Sight;
use crate::filter::funnel::Funnel;
use crate::recipe::LoadedRecipe;
use crate::workspace::Context;

/// Where rows come from. JSONL and Parquet are told apart by their first bytes.
pub enum Input {
    /// A file.
    File(Utf8PathBuf),
    /// A stream, with a name for messages.
    Stream(String, Box<dyn Read + Send>),
}

/// Where kept rows go.
pub enum Output<'w> {
    /// Nowhere: only the funnel is wanted.
    Nowhere,
    /// A stream, as JSONL. A reader that has gone away ends the writing, not the run.
    Stream(&'w mut dyn Write),
    /// A file: Parquet when its name ends in `.parquet`, else JSONL. It is there whole or not at all.
    File(Utf8PathBuf),
}

/// What a run over a dataset came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DatasetRun {
    /// The recipe's dataset.
    pub dataset: String,
    /// How many rows each rule met, stopped and let through.
    pub funnel: Funnel,
    /// The selection log.
    pub selection_log: Utf8PathBuf,
}

/// Asks a recipe's rules about every row of `input`; rows that all rules keep go unchanged to `output`, in their order,
/// and every decision into a selection log in the workspace. Rules meet a row in the recipe's running order up to the
/// first that drops it. `part_of` is the recipe's split.
///
/// # Errors
/// When a row cannot be read or judged, or something cannot be written; then neither an output file nor a log appears.
pub fn filter_dataset(
    context: &Context,
    recipe: &LoadedRecipe,
    input: Input,
    output: Output<'_>,
    part_of: &(impl Fn(&FileChange) -> Option<Part> + Sync),
) -> Result<DatasetRun, FilterError> {
    let program = compile(&recipe.recipe)?;
    let opened = Opened::new(context, input)?;
    let log = LogWriter::begin(context, recipe, &opened.name)?;
    let parquet = match &opened.rows {
        Rows::Parquet(file) => Some(file),
        Rows::Lines(..) => None,
    };
    let sink = Sink::new(context, output, parquet, &opened.name)?;
    let mut run = Run {
        context,
        judge: Judge {
            name: &opened.name,
            program: &program,
            needs: Needs::of(&program),
            part_of,
        },
        funnel: Funnel::of(&program),
        log,
        sink,
        lines: 0,
        seen: HashMap::new(),
    };
    context.events.emit(Event::StageStarted {
        stage: "filter",
        unit: "rows",
        total: 0,
    });
    match opened.rows {
        Rows::Lines(start, reader) => {
            let read = |cause| FilterError::Read {
                file: opened.name.clone(),
                cause,
            };
            run.all(&mut Lines::new(&start, reader, context.jobs), read)?;
        }
        Rows::Parquet(file) => {
            let mut rows = ParquetRows::open(&opened.name, parquet::again(&opened.name, &file)?)?;
            run.all(&mut rows, |error| error)?;
        }
    }
    let Run {
        funnel, log, sink, ..
    } = run;
    sink.finish()?;
    let selection_log = log.finish()?;
    let note = format!("{} of {} rows kept", funnel.out, funnel.entered);
    context.events.emit(Event::StageFinished {
        stage: "filter",
        note,
    });
    Ok(DatasetRun {
        dataset: recipe.recipe.dataset.name.clone(),
        funnel,
        selection_log,
    })
}

struct Opened {
    name: String,
    rows: Rows,
}

enum Rows {
    /// What was read to tell the format, and the rest.
    Lines(Vec<u8>, Box<dyn Read + Send>),
    Parquet(File),
}

impl Opened {
    fn new(context: &Context, input: Input) -> Result<Self, FilterError> {
        let (name, mut reader, file): (String, Box<dyn Read + Send>, Option<File>) = match input {
            Input::File(path) => {
                let read = |cause| FilterError::Read {
                    file: path.to_string(),
                    cause,
                };
                let file = File::open(&path).map_err(read)?;
                let reader = file.try_clone().map_err(read)?;
                (path.to_string(), Box::new(reader), Some(file))
            }
            Input::Stream(name, reader) => (name, reader, None),
        };
        let read = |cause| FilterError::Read {
            file: name.clone(),
            cause,
        };
        let mut start = Vec::new();
        (&mut reader).take(4).read_to_end(&mut start).map_err(read)?;
        let mark = match start.as_slice() {
            [0xEF, 0xBB, 0xBF, ..] => Some("a byte order mark"),
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16's byte order mark"),
            _ => None,
        };
        if let Some(mark) = mark {
            return Err(FilterError::Mark { file: name, mark });
        }
        if start != b"PAR1" {
            return Ok(Self {
                rows: Rows::Lines(start, reader),
                name,
            });
        }
        // Parquet is read from its end: a stream is laid down first.
        let file = if let Some(file) = file {
            file
        } else {
            let mut file = tempfile::tempfile_in(context.workspace.scratch()).map_err(read)?;
            file.write_all(&start).map_err(read)?;
            std::io::copy(&mut reader, &mut file).map_err(read)?;
            file.rewind().map_err(read)?;
            file
        };
        Ok(Self {
            name,
            rows: Rows::Parquet(file),
        })
    }
}

/// What is the same for every row.
struct Judge<'a, F> {
    name: &'a str,
    program: &'a Program,
    needs: Needs,
    part_of: &'a F,
}

struct Run<'a, 'w, F> {
    context: &'a Context,
    judge: Judge<'a, F>,
    funnel: Funnel,
    log: LogWriter,
    sink: Sink<'w>,
    /// Lines before the batch.
    lines: u64,
    /// The line of each instance id.
    seen: HashMap<String, u64>,
}

/// What judging a stretch of lines gave.
struct Judged {
    /// The last line's number.
    last: u64,
    rows: Vec<Kept>,
    log: Vec<u8>,
    funnel: Funnel,
    /// Instance ids, each with its line.
    ids: Vec<(String, u64)>,
}

impl<F: Fn(&FileChange) -> Option<Part> + Sync> Run<'_, '_, F> {
    fn all<B: Batches>(
        &mut self,
        batches: &mut B,
        wrap: impl Fn(B::Error) -> FilterError,
    ) -> Result<(), FilterError> {
        loop {
            if self.context.cancel.is_cancelled() {
                return Err(FilterError::Stopped);
            }
            let batch = batches.next().map_err(&wrap)?;
            if batch.is_empty() {
                return Ok(());
            }
            self.batch(batch)?;
        }
    }

    fn batch(&mut self, batch: &[u8]) -> Result<(), FilterError> {
        let pieces = pieces(batch, self.context.jobs);
        let several = pieces.len() > 1;
        let mut places: Vec<(Range<usize>, u64)> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            // Pieces are judged side by side, so each must know which line it begins with.
            let lines = if several {
                memchr::memchr_iter(b'\n', &batch[piece.clone()]).count() as u64
            } else {
                0
            };
            places.push((piece, self.lines));
            self.lines += lines;
        }
        let judge = &self.judge;
        let judge = |(piece, before): &(Range<usize>, u64)| judge.lines(batch, piece.clone(), *before);
        let judged = if several {
            // In order: the row that an error names is the first one, whoever met it first.
            let judged: Vec<_> = places.par_iter().map(judge).collect();
            judged.into_iter().collect::<Result<Vec<_>, _>>()?
        } else {
            places.iter().map(judge).collect::<Result<Vec<_>, _>>()?
        };
        for Judged {
            last,
            rows,
            log,
            funnel,
            ids,
        } in judged
        {
            for (id, line) in ids {
                if let Some(first) = self.seen.get(&id) {
                    return Err(FilterError::Duplicate {
                        file: self.judge.name.to_owned(),
                        first: *first,
                        line,
                        id,
                    });
                }
                self.seen.insert(id, line);
            }
            self.lines = last;
            self.context.events.emit(Event::Advanced {
                stage: "filter",
                by: funnel.entered,
            });
            self.funnel.add(&funnel);
            self.log.write(&log)?;
            self.sink.take(batch, &rows)?;
        }
        Ok(())
    }
}

impl<F: Fn(&FileChange) -> Option<Part>> Judge<'_, F> {
    /// Judges the lines in `piece` of a batch; `before` lines of the input come before them.
    fn lines(&self, batch: &[u8], piece: Range<usize>, before: u64) -> Result<Judged, FilterError> {
        let mut judged = Judged {
            last: before,
            rows: Vec::new(),
            log: Vec::new(),
            funnel: Funnel::of(self.program),
            ids: Vec::new(),
        };
        let mut start = piece.start;
        let mut number = before;
        while start < piece.end {
            let end =
                memchr::memchr(b'\n', &batch[start..piece.end]).map_or(piece.end, |newline| start + newline);
            number += 1;
            let line = batch[start..end].trim_ascii_end();
            if !line.trim_ascii_start().is_empty() {
                let kept = self.row(line, number, &mut judged)?;
                judged.rows.push(Kept {
                    range: start..start + line.len(),
                    kept,
                });
            }
            start = end + 1;
        }
        judged.last = number;
        Ok(judged)
    }

    fn row(&self, line: &[u8], number: u64, judged: &mut Judged) -> Result<bool, FilterError> {
        let file = || self.name.to_owned();
        let fields = scan(line).map_err(|bad| FilterError::Line {
            file: file(),
            line: number,
            column: bad.at + 1,
            message: bad.message,
        })?;
        let row = Row::new(&fields, self.needs, self.part_of).map_err(|error| FilterError::Row {
            file: file(),
            row: number,
            error,
        })?;
        if fields.get(Field::InstanceId).is_none() {
            return Err(FilterError::Line {
                file: file(),
                line: number,
                column: 1,
                message: "it is no dataset's row: it has no `instance_id`".to_owned(),
            });
        }
        let sight = Sight::new(self.program, &row);
        let judgements = self
            .program
            .judge_until_dropped(self.program.rules().iter(), &sight)
            .map_err(|error| FilterError::EvaluateRow {
                file: file(),
                row: number,
                error,
            })?;
        judged.funnel.count(
            judgements
                .iter()
                .map(|judgement| (judgement.verdict, judgement.kept)),
        );
        judged
            .ids
            .extend(row.instance.as_deref().map(|id| (id.to_owned(), number)));
        log::append(&mut judged.log, number, row.instance.as_deref(), &judgements).map_err(|error| {
            FilterError::Write {
                file: "the selection log".to_owned(),
                cause: error.into(),
            }
        })?;
        Ok(judgements.last().is_none_or(|judgement| judgement.kept))
    }
}
