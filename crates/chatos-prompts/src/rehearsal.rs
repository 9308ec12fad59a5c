//! Writing into the log as another program does (seed 003 §3), past the queue, for the test of `chatos dev`.

/// Appends in one write, without lock and sync, as `fs.appendFile` does; `anew` empties the log before it.
pub fn write(paths: &chatos_lines::Paths, bytes: &str, anew: bool) -> std::io::Result<()> {
    let mut log = std::fs::OpenOptions::new().append(true).create(true).open(&paths.log)?;
    anew.then(|| log.set_len(0)).transpose()?;
    std::io::Write::write_all(&mut log, bytes.as_bytes())
}
