//! The records of an ended job's file that are in none of its groups, because the job was stopped before its split.

use longshore::files::{RecordWindow, ResumingReader, StreamedRecord};
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{Files, Read};

use crate::item_file_builder::WalkedItem;
use crate::outcome::Halt;
use crate::part_source::SourceGone;
use crate::record_copier::RecordCopier;

/// The records from a byte of a file on.
pub(crate) struct UnsplitRecords<'a, F: Files> {
    reader: ResumingReader<'a, F>,
    window: RecordWindow,
    copier: RecordCopier,
    /// Byte up to which all records were read.
    pub(crate) reached: u64,
    has_ended: bool,
}

impl<'a, F: Files> UnsplitRecords<'a, F> {
    /// Creates the records from byte `start` on, which is the start of a record.
    pub(crate) fn new(files: &'a F, source: &'a SourceFile, start: u64, copier: RecordCopier) -> Self {
        let window = RecordWindow::starting_at(source, start, copier.longest);
        let reader = ResumingReader::new(files, source, start);
        Self { reader, window, copier, reached: start, has_ended: false }
    }

    /// Reads a block, and passes on the records that end in it with the byte after each of them. Returns false after
    /// the last one.
    pub(crate) async fn read(&mut self, take: &mut impl FnMut(u64, WalkedItem)) -> Result<bool, Halt> {
        if self.has_ended {
            return Ok(false);
        }
        let copier = self.copier;
        let mut copy = |record: StreamedRecord<'_>| {
            take(record.end, record.content.map_or(WalkedItem::WithoutBytes, |content| copier.record(content)));
        };
        match self.reader.next().await? {
            Read::Found(Some(block)) => {
                self.window.feed(&block, &mut copy);
                // A place within an endless record would make the next reader begin there.
                self.reached = self.window.reached();
            }
            Read::Found(None) => {
                self.window.finish(&mut copy);
                self.has_ended = true;
            }
            Read::Absent => return Err(SourceGone::Missing.into()),
            Read::Changed => return Err(SourceGone::Changed.into()),
        }
        Ok(!self.has_ended)
    }
}
