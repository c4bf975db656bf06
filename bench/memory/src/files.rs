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
use crate::file_inputs::{TEXT_BYTES, csv, csv_rows, gzip, workbook};
use crate::goal::{self, Goal};
use crate::job::{Request, run as run_job, runtime};
use crate::statistics::median;

/// Argument of the program, and of a process that makes one measurement.
pub(crate) const ARGUMENT: &str = "files";

/// Number of runs of each measurement.
const RUNS: usize = 5;

/// Rows of the CSV files and of the workbook.
const CSV_ROWS: u64 = 1_000_000;
const SHEET_ROWS: u32 = 500_000;

/// Rows of the workbook that is inspected: about 20 MB.
const INSPECTED_ROWS: u32 = 700_000;

/// The measurements.
const KINDS: [&str; 8] = [
    "a validation of UTF-8 with commas",
    "the same rows in windows-1252 with semicolons",
    "bare decompression of 100 MB of gzip",
    "its preparation",
    "a bare calamine loop over 500,000 rows",
    "their preparation",
    "inspection of 100 MB of CSV",
    "inspection of a workbook of 20 MB",
];

/// The input of each measurement.
const INPUTS: [usize; KINDS.len()] = [0, 1, 2, 2, 3, 3, 4, 5];

/// Number of the measurement of a file that unpacks to far more than its size, or declares so.
const BOMB: usize = KINDS.len();

/// A measurement: seconds, and the peak of the memory above that of the input, in MiB.
#[derive(Copy, Clone)]
struct Measured {
    seconds: f64,
    peak_mib: f64,
}

/// Measures everything. Returns the tables.
pub(crate) fn measure() -> Result<String> {
    let folder = tempfile::tempdir()?;
    let inputs = [csv_rows(CSV_ROWS, false), csv_rows(CSV_ROWS, true), gzip()?, workbook(SHEET_ROWS)?];
    let inputs = inputs.into_iter().chain([csv(TEXT_BYTES), workbook(INSPECTED_ROWS)?]);
    for (index, input) in inputs.enumerate() {
        std::fs::write(folder.path().join(index.to_string()), input)?;
    }
    let mut runs = vec![Vec::new(); KINDS.len()];
    for run in 1..=RUNS {
        for (index, kind) in KINDS.iter().enumerate() {
            eprintln!("run {run} of {RUNS}: {kind}");
            runs[index].push(in_process(index, kind, &folder.path().join(INPUTS[index].to_string()))?);
        }
    }
    let bombs = bombs::files()?.into_iter().map(|(name, file)| {
        eprintln!("{name}");
        let path = folder.path().join("bomb");
        std::fs::write(&path, file)?;
        Ok((name, in_process(BOMB, name, &path)?))
    });
    let bombs: Vec<(&str, Measured)> = bombs.collect::<Result<_>>()?;
    let medians = runs.iter().map(|runs| Measured {
        seconds: median(runs.iter().map(|run: &Measured| run.seconds)),
        peak_mib: median(runs.iter().map(|run| run.peak_mib)),
    });
    let medians: Vec<_> = medians.collect();
    let [utf8, windows, gunzip, gzip, calamine, workbook, inspect_csv, inspect_workbook] = medians[..] else {
        bail!("there are other measurements");
    };
    let ratio = |base: Measured, other: Measured| base.seconds / other.seconds;
    let at_least = |name, base, other, least: f64| {
        let ratio = ratio(base, other);
        Goal { name, measured: format!("{ratio:.2} of its speed"), is_met: ratio >= least }
    };
    let within = |name, measured: Measured, seconds: f64| Goal {
        name,
        measured: format!("{:.0} ms", measured.seconds * 1_000.0),
        is_met: measured.seconds <= seconds,
    };
    let mut text = goal::table([
        at_least("windows-1252 with semicolons: at least 0.80 of the speed of UTF-8 with commas", utf8, windows, 0.8),
        at_least("gzip: at least 0.70 of the speed of bare decompression with the same crate", gunzip, gzip, 0.7),
        at_least(
            "a workbook of 500,000 rows: at least 0.80 of the speed of a bare calamine loop",
            calamine,
            workbook,
            0.8,
        ),
        Goal {
            name: "the same: up to 128 MiB of memory besides the file",
            measured: format!("{:.0} MiB", workbook.peak_mib),
            is_met: workbook.peak_mib <= 128.0,
        },
        within("inspection of 100 MB of CSV: less than 300 ms", inspect_csv, 0.3),
        within("inspection of a workbook of 20 MB: less than 2 s", inspect_workbook, 2.0),
        within("each file that unpacks to far more than its size: less than 2 s", slowest(&bombs), 2.0),
        Goal {
            name: "the same: up to 128 MiB of memory besides the file",
            measured: format!("{:.0} MiB", largest(&bombs)),
            is_met: largest(&bombs) <= 128.0,
        },
    ]);
    let row = |(kind, measured): (&str, &Measured)| {
        vec![kind.to_owned(), format!("{:.3}", measured.seconds), format!("{:.0}", measured.peak_mib)]
    };
    let columns = ["measurement", "seconds", "peak memory besides the file, MiB"];
    markdown::table(&mut text, "Files", &columns, KINDS.into_iter().zip(&medians).map(row).collect());
    let bombs = bombs.iter().map(|(name, measured)| (*name, measured));
    markdown::table(&mut text, "Preparation of hostile files", &columns, bombs.map(row).collect());
    Ok(text)
}

fn slowest(bombs: &[(&str, Measured)]) -> Measured {
    let slower = |one: Measured, other: Measured| if one.seconds < other.seconds { other } else { one };
    bombs.iter().map(|(_, measured)| *measured).fold(Measured { seconds: 0.0, peak_mib: 0.0 }, slower)
}

fn largest(bombs: &[(&str, Measured)]) -> f64 {
    bombs.iter().map(|(_, measured)| measured.peak_mib).fold(0.0, f64::max)
}

fn in_process(index: usize, name: &str, input: &Path) -> Result<Measured> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args([ARGUMENT, &index.to_string()]).arg(input).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the process of {name:?} failed");
    let text = String::from_utf8(output.stdout)?;
    let (seconds, peak) = text.trim().split_once(' ').context("two numbers")?;
    Ok(Measured { seconds: seconds.parse()?, peak_mib: peak.parse()? })
}

/// Makes one measurement, and prints it.
pub(crate) fn run(index: &str, input: &str) -> Result<()> {
    let file = std::fs::read(input)?;
    let Measured { seconds, peak_mib } = match index.parse()? {
        0 | 1 => validation(file)?,
        2 => measured(&file, |file| {
            let mut decoder = MultiGzDecoder::new(file);
            let (mut block, mut bytes) = (vec![0; 64 << 10], 0);
            loop {
                match decoder.read(&mut block)? {
                    0 => break,
                    length => bytes += length,
                }
            }
            ensure!(bytes >= TEXT_BYTES / 2, "{bytes} bytes");
            Ok(())
        })?,
        3 => measured(&file, |file| prepare(Form::Gzip, file))?,
        4 => measured(&file, |file| {
            let mut workbook: Xlsx<_> = open_workbook_from_rs(Cursor::new(file))?;
            let name = workbook.sheet_names().first().context("a sheet")?.clone();
            let (mut cells, mut count) = (workbook.worksheet_cells_reader(&name)?, 0_u32);
            while cells.next_cell()?.is_some() {
                count += 1;
            }
            ensure!(count >= SHEET_ROWS, "{count} cells");
            Ok(())
        })?,
        5 => measured(&file, |file| prepare(Form::Workbook, file))?,
        6 | 7 => inspection(file)?,
        BOMB => measured(&file, |file| {
            let form = Form::detect(file).context("a form")?;
            match prepare(form, file) {
                Ok(()) => eprintln!("  is converted"),
                Err(refused) => eprintln!("  is refused: {refused}"),
            }
            Ok(())
        })?,
        other => bail!("there is no measurement {other}"),
    };
    println!("{seconds} {peak_mib}");
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
