//! Speed of files as people have them: another dialect and encoding, compressed files, workbooks, and inspections, each
//! beside a bare loop over the same bytes with the same library. Each measurement has a process of its own, whose peak
//! memory is measured. Kinds alternate, and each time is the median of its runs.

use std::io::{Cursor, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use bench::markdown;
use calamine::{Reader, Xlsx, open_workbook_from_rs};
use flate2::bufread::MultiGzDecoder;
use longshore::inspection::{Inspected, Inspection, Intended, inspect};
use longshore::job_types::builtin;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::Files;
use longshore_domain::records::{Form, Format, GivenReading};
use longshore_preparation::{Conversion, Limits, SheetChoice, Step};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::json;

use crate::bombs;
use crate::file_inputs::{CSV_ROWS, Input, SHEET_ROWS, TEXT_BYTES};
use crate::goal::{self, Goal};
use crate::job::{Request, run as run_job, runtime};
use crate::statistics::median;

/// Argument of the program, and of a process that makes one measurement.
pub(crate) const ARGUMENT: &str = "files";

/// Number of runs of each measurement.
const RUNS: usize = 5;

/// Argument of a process that prepares a hostile file, instead of the name of a measurement.
const HOSTILE: &str = "hostile";

/// A kind of measurement.
struct Kind {
    name: &'static str,
    input: Input,
    run: fn(Vec<u8>) -> Result<Measured>,
}

/// The kinds, in the order in which `goals` takes their medians.
const KINDS: [Kind; 8] = [
    Kind { name: "a validation of UTF-8 with commas", input: Input::Utf8, run: validation },
    Kind { name: "the same rows in windows-1252 with semicolons", input: Input::Windows1252, run: validation },
    Kind { name: "bare decompression of 100 MB of gzip", input: Input::Gzip, run: |file| measured(&file, decompress) },
    Kind {
        name: "preparation of 100 MB of gzip",
        input: Input::Gzip,
        run: |file| measured(&file, |file| prepare(Form::Gzip, file)),
    },
    Kind {
        name: "a bare calamine loop over 500,000 rows",
        input: Input::Workbook,
        run: |file| measured(&file, read_cells),
    },
    Kind {
        name: "preparation of 500,000 rows",
        input: Input::Workbook,
        run: |file| measured(&file, |file| prepare(Form::Workbook, file)),
    },
    Kind { name: "inspection of 100 MB of CSV", input: Input::InspectedCsv, run: inspection },
    Kind { name: "inspection of a workbook of 20 MB", input: Input::InspectedWorkbook, run: inspection },
];

/// A measurement: seconds, and the peak of the memory above that of the input, in MiB.
#[derive(Copy, Clone)]
struct Measured {
    seconds: f64,
    peak_mib: f64,
}

/// Measures everything. Returns the tables.
pub(crate) fn measure() -> Result<String> {
    let folder = tempfile::tempdir()?;
    Input::write_all(folder.path())?;
    let medians = measure_kinds(folder.path())?;
    Ok(tables(medians, &measure_hostile(folder.path())?))
}

/// Makes all measurements of each kind. Returns their medians.
fn measure_kinds(folder: &Path) -> Result<[Measured; KINDS.len()]> {
    let mut runs: [Vec<Measured>; KINDS.len()] = Default::default();
    for run in 1..=RUNS {
        for (kind, runs) in KINDS.iter().zip(&mut runs) {
            eprintln!("run {run} of {RUNS}: {}", kind.name);
            runs.push(in_process(kind.name, &kind.input.path(folder)).context(kind.name)?);
        }
    }
    Ok(runs.map(|runs| Measured {
        seconds: median(runs.iter().map(|run| run.seconds)),
        peak_mib: median(runs.iter().map(|run| run.peak_mib)),
    }))
}

/// Prepares each hostile file once.
fn measure_hostile(folder: &Path) -> Result<Vec<(&'static str, Measured)>> {
    let path = folder.join(HOSTILE);
    let measure = |(name, file): (&'static str, Vec<u8>)| -> Result<_> {
        eprintln!("{name}");
        std::fs::write(&path, file)?;
        Ok((name, in_process(HOSTILE, &path).context(name)?))
    };
    bombs::files()?.into_iter().map(measure).collect()
}

fn goals(medians: [Measured; KINDS.len()], hostile: &[(&str, Measured)]) -> [Goal; 8] {
    let [utf8, windows, gunzip, gzip, calamine, workbook, inspect_csv, inspect_workbook] = medians;
    let slowest = hostile.iter().map(|(_, measured)| measured.seconds).fold(0.0, f64::max);
    let largest = hostile.iter().map(|(_, measured)| measured.peak_mib).fold(0.0, f64::max);
    [
        at_least("windows-1252 with semicolons: at least 0.80 of the speed of UTF-8 with commas", utf8, windows, 0.8),
        at_least("gzip: at least 0.70 of the speed of bare decompression with the same crate", gunzip, gzip, 0.7),
        at_least(
            "a workbook of 500,000 rows: at least 0.80 of the speed of a bare calamine loop",
            calamine,
            workbook,
            0.8,
        ),
        in_memory("a workbook of 500,000 rows: up to 128 MiB of memory besides the file", workbook.peak_mib),
        within("inspection of 100 MB of CSV: less than 300 ms", inspect_csv.seconds, 0.3),
        within("inspection of a workbook of 20 MB: less than 2 s", inspect_workbook.seconds, 2.0),
        within("each file that unpacks to far more than its size: less than 2 s", slowest, 2.0),
        in_memory("hostile files: up to 128 MiB of memory besides the file", largest),
    ]
}

/// Returns the goal that `other` has at least this part of the speed of `base`.
fn at_least(name: &'static str, base: Measured, other: Measured, least: f64) -> Goal {
    let ratio = base.seconds / other.seconds;
    Goal { name, measured: format!("{ratio:.2} of its speed"), is_met: ratio >= least }
}

fn within(name: &'static str, seconds: f64, limit: f64) -> Goal {
    Goal { name, measured: format!("{:.0} ms", seconds * 1_000.0), is_met: seconds <= limit }
}

fn in_memory(name: &'static str, peak_mib: f64) -> Goal {
    Goal { name, measured: format!("{peak_mib:.0} MiB"), is_met: peak_mib <= 128.0 }
}

fn tables(medians: [Measured; KINDS.len()], hostile: &[(&str, Measured)]) -> String {
    let row = |(name, measured): (&str, Measured)| {
        vec![name.to_owned(), format!("{:.3}", measured.seconds), format!("{:.0}", measured.peak_mib)]
    };
    let columns = ["measurement", "seconds", "peak memory besides the file, MiB"];
    let mut text = goal::table(goals(medians, hostile));
    let kinds = KINDS.iter().map(|kind| kind.name).zip(medians);
    markdown::table(&mut text, "Files", &columns, kinds.map(row).collect());
    let hostile = hostile.iter().copied();
    markdown::table(&mut text, "Preparation of hostile files", &columns, hostile.map(row).collect());
    text
}

/// Makes one measurement in a new process of this program.
fn in_process(name: &str, input: &Path) -> Result<Measured> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args([ARGUMENT, name]).arg(input).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the process of the measurement failed");
    let text = String::from_utf8(output.stdout)?;
    let (seconds, peak) = text.trim().split_once(' ').context("two numbers")?;
    Ok(Measured { seconds: seconds.parse()?, peak_mib: peak.parse()? })
}

/// Makes one measurement, and prints it.
pub(crate) fn run(name: &str, input: &str) -> Result<()> {
    let file = std::fs::read(input)?;
    let Measured { seconds, peak_mib } = if name == HOSTILE {
        measured(&file, prepare_hostile)?
    } else {
        let kind = KINDS.iter().find(|kind| kind.name == name);
        let kind = kind.with_context(|| format!("there is no measurement {name}"))?;
        (kind.run)(file)?
    };
    println!("{seconds} {peak_mib}");
    Ok(())
}

fn decompress(file: &[u8]) -> Result<()> {
    let mut decoder = MultiGzDecoder::new(file);
    let (mut block, mut bytes) = (vec![0; 64 << 10], 0);
    loop {
        match decoder.read(&mut block)? {
            0 => break,
            length => bytes += length,
        }
    }
    ensure!(bytes == TEXT_BYTES, "{bytes} bytes");
    Ok(())
}

fn read_cells(file: &[u8]) -> Result<()> {
    let mut workbook: Xlsx<_> = open_workbook_from_rs(Cursor::new(file))?;
    let name = workbook.sheet_names().first().context("a sheet")?.clone();
    let (mut cells, mut count) = (workbook.worksheet_cells_reader(&name)?, 0_u32);
    while cells.next_cell()?.is_some() {
        count += 1;
    }
    ensure!(count >= SHEET_ROWS, "{count} cells");
    Ok(())
}

/// Converts a file, which may also be refused.
fn prepare_hostile(file: &[u8]) -> Result<()> {
    let form = Form::detect(file).context("a form")?;
    match prepare(form, file) {
        Ok(()) => eprintln!("  is converted"),
        Err(refused) => eprintln!("  is refused: {refused}"),
    }
    Ok(())
}

/// Runs `work` over a file, and measures it.
fn measured(file: &[u8], work: impl FnOnce(&[u8]) -> Result<()>) -> Result<Measured> {
    let (before, began) = (memory_mib("VmRSS:")?, Instant::now());
    work(file)?;
    Ok(Measured { seconds: began.elapsed().as_secs_f64(), peak_mib: memory_mib("VmHWM:")? - before })
}

/// Converts a file as `prepare` does, without a bucket.
fn prepare(form: Form, file: &[u8]) -> Result<()> {
    let mut conversion = Conversion::start(form, file.len() as u64, SheetChoice::FirstVisible, Limits::default())?;
    loop {
        match conversion.blocking_next() {
            Step::Read(range) => conversion.answer(file[range.start as usize..range.end as usize].to_vec()),
            Step::Part(part) => drop(part),
            Step::Ended(prepared) => {
                ensure!(prepared?.bytes > 0, "nothing was converted");
                return Ok(());
            }
        }
    }
}

/// Validates a file of a million rows.
fn validation(file: Vec<u8>) -> Result<Measured> {
    let files = MemoryFiles::default();
    let source = put(&files, file)?;
    let registry = builtin(MemoryRecords::default(), files.clone());
    let options = json!({ "dataset": "bench", "key": "id", "mode": "validate", "schema": {
        "required": ["id", "email"],
        "properties": { "id": { "type": "integer" }, "email": { "pattern": "@" }, "amount": { "type": "number" } },
    } });
    let request = Request { job_type: "import", source: source.into(), options, results: None, registration: None };
    let run = run_job(files, &registry, request, CSV_ROWS)?;
    Ok(Measured { seconds: run.total_s(), peak_mib: memory_mib("VmHWM:")? })
}

/// Inspects a file as the function does, from the first call to the answer.
fn inspection(file: Vec<u8>) -> Result<Measured> {
    let files = MemoryFiles::default();
    let source = put(&files, file)?;
    let registry = builtin(MemoryRecords::default(), files.clone());
    let job_type = registry.find("import").context("the import")?;
    let options =
        json!({ "dataset": "bench", "key": "id", "schema": { "properties": { "amount": { "type": "number" } } } });
    let intended = || -> Result<_> {
        let options = options.clone();
        let prepared = job_type.prepare(&options).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        Ok(Some(Intended { job_type, options, prepared, presets: Vec::new() }))
    };
    let runtime = runtime()?;
    let (before, began) = (memory_mib("VmRSS:")?, Instant::now());
    let found = runtime.block_on(async {
        match inspect(&files, &source, GivenReading::default(), intended()?).await? {
            Inspected::Found(found) => Ok::<Inspection, anyhow::Error>(found),
            Inspected::Unprepared(form, intended) => {
                let part = ::inspect::convert_first_part(&files, &source, form, None).await?;
                let part = part.map_err(|error| anyhow::anyhow!("{}", error.message))?;
                match inspect(&part.file, &part.source, GivenReading::default(), intended).await? {
                    Inspected::Found(found) => Ok(found),
                    Inspected::Unprepared(..) => bail!("the file is not prepared"),
                }
            }
        }
    })?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(found.error.is_none() && found.rows.len() == 100, "{:?}, {} rows", found.error, found.rows.len());
    Ok(Measured { seconds, peak_mib: memory_mib("VmHWM:")? - before })
}

fn put(files: &MemoryFiles, bytes: Vec<u8>) -> Result<SourceFile> {
    const KEY: &str = "uploads/default/bench";
    files.put(KEY, bytes);
    let info = runtime()?.block_on(files.info(KEY))?.context("the file is gone")?;
    Ok(SourceFile::new(KEY, info, Format::Csv, "rows.csv"))
}

fn memory_mib(name: &str) -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context("the memory of the process")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
