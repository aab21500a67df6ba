//! Where kept rows go.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::NamedTempFile;

use super::FilterError;
use super::dataset::Output;
use super::parquet::{self, Columns};
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
    Lines {
        file: BufWriter<NamedTempFile>,
        path: Utf8PathBuf,
    },
    /// Rows are laid down as lines first: their columns' types are known when all have been seen.
    Spool {
        lines: BufWriter<File>,
        columns: Columns,
        path: Utf8PathBuf,
    },
    /// The columns of a Parquet file, without the rows that are dropped.
    Copy {
        source: File,
        name: String,
        mask: Vec<bool>,
        path: Utf8PathBuf,
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
        let write = |cause| FilterError::Write {
            file: path.to_string(),
            cause,
        };
        if path.extension() != Some("parquet") {
            let file = BufWriter::new(beside(&path).map_err(write)?);
            return Ok(Self::Lines { file, path });
        }
        // Found out now, not after the work.
        drop(beside(&path).map_err(write)?);
        if let Some(source) = parquet {
            let source = source.try_clone().map_err(write)?;
            return Ok(Self::Copy {
                source,
                name: name.to_owned(),
                mask: Vec::new(),
                path,
            });
        }
        let lines = BufWriter::new(tempfile::tempfile_in(context.workspace.scratch()).map_err(write)?);
        Ok(Self::Spool {
            lines,
            columns: Columns::default(),
            path,
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
            Self::Lines { file, path } => write_rows(file, batch, rows).map_err(|cause| FilterError::Write {
                file: path.to_string(),
                cause,
            }),
            Self::Spool { lines, columns, path } => {
                let write = |cause| FilterError::Write {
                    file: path.to_string(),
                    cause,
                };
                for row in rows.iter().filter(|row| row.kept) {
                    columns
                        .learn(&batch[row.range.clone()])
                        .map_err(|error| write(error.into()))?;
                }
                write_rows(lines, batch, rows).map_err(write)
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
            Self::Lines { file, path } => {
                let write = |cause| FilterError::Write {
                    file: path.to_string(),
                    cause,
                };
                let file = file.into_inner().map_err(|error| write(error.into_error()))?;
                persist(file, &path)
            }
            Self::Spool { lines, columns, path } => {
                let write = |cause| FilterError::Write {
                    file: path.to_string(),
                    cause,
                };
                let lines = lines.into_inner().map_err(|error| write(error.into_error()))?;
                let target = beside(&path).map_err(write)?;
                parquet::write(&path, lines, &columns, target.as_file())?;
                persist(target, &path)
            }
            Self::Copy {
                source,
                name,
                mask,
                path,
            } => {
                let target = beside(&path).map_err(|cause| FilterError::Write {
                    file: path.to_string(),
                    cause,
                })?;
                parquet::copy(&name, &source, &mask, &path, target.as_file())?;
                persist(target, &path)
            }
        }
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

/// A file that is not yet there, in the folder where it will be.
fn beside(path: &Utf8Path) -> io::Result<NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_str().is_empty())
        .unwrap_or(Utf8Path::new("."));
    // An output is for whoever may read here, where a temporary file would be its owner's alone.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    tempfile::Builder::new()
        .permissions(permissions)
        .tempfile_in(folder)
}

fn persist(file: NamedTempFile, path: &Utf8Path) -> Result<(), FilterError> {
    let write = |cause| FilterError::Write {
        file: path.to_string(),
        cause,
    };
    file.persist(path).map_err(|error| write(error.error))?;
    Ok(())
}
