//! `--also FORMAT=FILE`: the findings of a run in additional formats, each in a file.
//!
//! Owns: the option, and writing the files. Flows in: findings. Flows out: files, and findings about those that cannot
//! be written. Must not know: which command runs.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum as _;
use spokewright::diagnostic::{Findings, Locate};
use spokewright::output;

use super::show;
use super::speech::{MessageFormat, Speech};

/// A form, and where it goes.
#[derive(Debug, Clone)]
pub(crate) struct Also {
    format: MessageFormat,
    pub(crate) file: PathBuf,
}

/// Reads `FORMAT=FILE`.
pub(crate) fn parse(text: &str) -> Result<Also, String> {
    let (format, file) = text
        .split_once('=')
        .ok_or("write FORMAT=FILE, as in sarif=findings.sarif")?;
    if file.is_empty() {
        return Err("name a file behind the `=`".to_owned());
    }
    let format = MessageFormat::from_str(format, false).map_err(|_| {
        let known: Vec<String> = MessageFormat::value_variants()
            .iter()
            .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
            .collect();
        format!("there is no format `{format}`; there are {}", known.join(", "))
    })?;
    Ok(Also {
        format,
        file: file.into(),
    })
}

/// Writes each form, warnings included, whatever stderr is spared.
pub(crate) fn write(all: &[Also], findings: &Findings, locate: &dyn Locate, speech: Speech) -> Findings {
    let mut failed = Findings::new();
    for also in all {
        let speech = Speech {
            message_format: also.format,
            quiet: false,
            color: super::speech::Color::Never,
            ..speech
        };
        let fill = |out: &mut dyn Write| show::write_findings(out, findings, locate, speech, false);
        if let Err(error) = output::write_named(&also.file, fill) {
            failed.extend(error.findings());
        }
    }
    failed
}
