//! Where kept rows go.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;

use camino::Utf8Path;

use super::FilterError;
use super::dataset::Output;
use super::parquet::{self, Columns};
use super::target::Target;
use crate::workspace::Context;

/// A row's place in its batch, and whether it is kept.
pub(super) struct Kept {
    pub(super) range: Range<usize>,
    pub(super) kept: bool,
}

/// Takes kept rows.
pub(super) enum Sink<'w> {
    Nowhere,
    Stream {
        writer: &'w mut dyn Write,
        open: bool,
    },
    Lines(BufWriter<Target>),
    /// Rows are laid down as lines first: their columns' types are known when all have been seen.
    Spool {
        lines: BufWriter<File>,
        columns: Columns,
        target: Target,
    },
    /// The columns of a Parquet file, without the rows that are dropped.
    Copy {
        source: File,
        name: String,
        mask: Vec<bool>,
        target: Target,
    },
}

impl<'w> Sink<'w> {
    /// The sink for an output; `parquet` is the input when it is a Parquet file.
    pub(super) fn new(
        context: &Context,
        output: Output<'w>,
        parquet: Option<&File>,
        name: &str,
    ) -> Result<Self, FilterError> {
        let path = match output {
            Output::Nowhere => return Ok(Self::Nowhere),
            Output::Stream(writer) => return Ok(Self::Stream { writer, open: true }),
            Output::File(path) => path,
        };
        let is_parquet = is_parquet(&path)?;
        let target = Target::begin(&path)?;
        if !is_parquet {
            return Ok(Self::Lines(BufWriter::new(target)));
        }
        if let Some(source) = parquet {
            let source = source.try_clone().map_err(|cause| target.failed(cause))?;
            return Ok(Self::Copy {
                source,
                name: name.to_owned(),
                mask: Vec::new(),
                target,
            });
        }
        let spool =
            tempfile::tempfile_in(context.workspace.scratch()).map_err(|cause| target.failed(cause))?;
        Ok(Self::Spool {
            lines: BufWriter::new(spool),
            columns: Columns::default(),
            target,
        })
    }

    /// Takes the rows of a batch.
    pub(super) fn take(&mut self, batch: &[u8], rows: &[Kept]) -> Result<(), FilterError> {
        match self {
            Self::Nowhere | Self::Stream { open: false, .. } => Ok(()),
            Self::Stream { writer, open } => match write_rows(*writer, batch, rows) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    *open = false;
                    Ok(())
                }
                done => done.map_err(|cause| FilterError::Write {
                    file: "standard output".to_owned(),
                    cause,
                }),
            },
            Self::Lines(file) => write_rows(file, batch, rows).map_err(|cause| file.get_ref().failed(cause)),
            Self::Spool {
                lines,
                columns,
                target,
            } => {
                for row in rows.iter().filter(|row| row.kept) {
                    columns
                        .learn(&batch[row.range.clone()])
                        .map_err(|error| target.failed(error.into()))?;
                }
                write_rows(lines, batch, rows).map_err(|cause| target.failed(cause))
            }
            Self::Copy { mask, .. } => {
                mask.extend(rows.iter().map(|row| row.kept));
                Ok(())
            }
        }
    }

    /// Completes the output: a file appears now.
    pub(super) fn finish(self) -> Result<(), FilterError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stream { writer, open } => match if open { writer.flush() } else { Ok(()) } {
                Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(FilterError::Write {
                    file: "standard output".to_owned(),
                    cause: error,
                }),
                _ => Ok(()),
            },
            Self::Lines(mut file) => {
                file.flush().map_err(|cause| file.get_ref().failed(cause))?;
                // Flushed: nothing is left to be written.
                let (target, _) = file.into_parts();
                target.complete()
            }
            Self::Spool {
                lines,
                columns,
                target,
            } => {
                let lines = lines
                    .into_inner()
                    .map_err(|error| target.failed(error.into_error()))?;
                parquet::write(target.path(), lines, &columns, target.file())?;
                target.complete()
            }
            Self::Copy {
                source,
                name,
                mask,
                target,
            } => {
                parquet::copy(&name, &source, &mask, target.path(), target.file())?;
                target.complete()
            }
        }
    }
}

/// Whether a file's name asks for Parquet; the other kind is JSONL. A device or a pipe takes lines, whatever its name.
fn is_parquet(path: &Utf8Path) -> Result<bool, FilterError> {
    let end = path.extension().map(str::to_ascii_lowercase);
    match end.as_deref() {
        Some("parquet") => Ok(true),
        Some("jsonl" | "ndjson") => Ok(false),
        // A folder is refused where the file is begun.
        _ if path.metadata().is_ok_and(|known| !known.is_file()) => Ok(false),
        _ => Err(FilterError::Ending {
            file: path.to_string(),
        }),
    }
}

/// Writes kept rows, each with a line end; neighbours go out in one piece, as they stand in the batch.
fn write_rows(writer: &mut (impl Write + ?Sized), batch: &[u8], rows: &[Kept]) -> io::Result<()> {
    let mut stretch: Option<Range<usize>> = None;
    for row in rows.iter().filter(|row| row.kept) {
        match &mut stretch {
            // Only a line end between them.
            Some(open) if batch.get(open.end) == Some(&b'\n') && row.range.start == open.end + 1 => {
                open.end = row.range.end;
            }
            _ => {
                write_stretch(writer, batch, stretch.take())?;
                stretch = Some(row.range.clone());
            }
        }
    }
    write_stretch(writer, batch, stretch)
}

fn write_stretch(
    writer: &mut (impl Write + ?Sized),
    batch: &[u8],
    stretch: Option<Range<usize>>,
) -> io::Result<()> {
    let Some(stretch) = stretch else { return Ok(()) };
    if batch.get(stretch.end) == Some(&b'\n') {
        writer.write_all(&batch[stretch.start..=stretch.end])
    } else {
        writer.write_all(&batch[stretch])?;
        writer.write_all(b"\n")
    }
}
