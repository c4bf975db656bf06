//! Conversions of files that are read by range.

use std::io::{Read, Write};

use super::*;

/// A conversion of a file that is read by range.
#[derive(Default)]
struct Run {
    reads: Vec<Range<u64>>,
    parts: Vec<Vec<u8>>,
}

impl Run {
    fn of(form: Form, file: &[u8], limits: Limits) -> (Self, Result<Prepared, PreparationError>) {
        let conversion = Conversion::start(form, file.len() as u64, SheetChoice::default(), limits);
        let (mut conversion, mut run) = (conversion.unwrap(), Self::default());
        loop {
            match conversion.blocking_next() {
                Step::Read(range) => {
                    run.reads.push(range.clone());
                    conversion.answer(file[range.start as usize..range.end as usize].to_vec());
                }
                Step::Part(part) => run.parts.push(part),
                Step::Ended(end) => return (run, end),
            }
        }
    }
}

/// Converts a file, and returns the parts.
fn parts(form: Form, file: &[u8]) -> (Vec<Vec<u8>>, Result<Prepared, PreparationError>) {
    let (run, end) = Run::of(form, file, Limits::default());
    (run.parts, end)
}

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn parts_are_of_one_size_and_make_up_the_output() {
    let text = "id,name\r\n".repeat(2_000_000);
    let (parts, end) = parts(Form::Utf16, &utf16(&text));
    assert_eq!(end.unwrap().bytes, text.len() as u64);
    assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [8 << 20, 8 << 20, text.len() - (16 << 20)]);
    assert!(parts.concat() == text.as_bytes());
}

#[test]
fn a_file_is_read_once_in_ever_larger_ranges() {
    let text = "id,name\r\n".repeat(2_000_000);
    let (run, _) = Run::of(Form::Utf16, &utf16(&text), Limits::default());
    assert!(run.reads.is_sorted_by(|one, next| one.end == next.start), "{:?}", run.reads);
    let lengths: Vec<_> = run.reads.iter().take(5).map(|range| (range.end - range.start) >> 10).collect();
    assert_eq!(lengths, [256, 1_024, 4_096, 8_192, 8_192]);
    // Whoever needs the first rows only reads nothing ahead.
    let limits = Limits { enough_bytes: 1_000, ..Limits::default() };
    let (run, end) = Run::of(Form::Utf16, &utf16(&text), limits);
    assert_eq!((run.reads.len(), run.reads[0].end, end.is_ok()), (1, 256 << 10, true));
}

#[test]
fn an_archive_is_read_from_its_end_and_then_in_order() {
    let text = "id,name\r\n".repeat(300_000);
    let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    writer.start_file("a.csv", stored).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    let (run, end) = Run::of(Form::Zip, &writer.finish().unwrap().into_inner(), Limits::default());
    assert_eq!((end.unwrap().bytes, run.parts.concat() == text.as_bytes()), (text.len() as u64, true));
    let read: u64 = run.reads.iter().map(|range| range.end - range.start).sum();
    assert!(read < 2 * text.len() as u64, "{:?}", run.reads);
}

#[test]
fn an_empty_output_has_no_part() {
    assert_eq!(parts(Form::Utf16, b"\xff\xfe").0.len(), 0);
}

#[test]
fn a_short_answer_is_an_error_of_the_storage() {
    let mut conversion = Conversion::start(Form::Utf16, 10, SheetChoice::default(), Limits::default()).unwrap();
    assert!(matches!(conversion.blocking_next(), Step::Read(range) if range == (0..10)));
    conversion.answer(vec![0xff, 0xfe]);
    let Step::Ended(Err(error)) = conversion.blocking_next() else { panic!("the conversion goes on") };
    assert_eq!(error.code(), None);
}

#[test]
fn a_conversion_whose_caller_has_gone_reads_no_further() {
    let (steps, received) = mpsc::channel(1);
    let (answers, answered) = sync_channel(1);
    let mut file = RemoteFile::new(steps, answered, 100, false);
    answers.send(vec![b'x'; 100]).unwrap();
    let mut byte = [0];
    file.read_exact(&mut byte).unwrap();
    drop(received);
    let end = file.read_exact(&mut byte).unwrap_err();
    assert_eq!(end.kind(), io::ErrorKind::BrokenPipe, "99 bytes of the block are left");
}
