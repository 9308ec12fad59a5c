//! The queue without a running host (`ui-prompts §12.3`, `state §9`): reading, and answering what other
//! programs asked, needs only the log; records are written while `host.lock` is held for a moment.

use std::sync::Arc;

use chatos_keys::{KeyPlace, StateKey};
use chatos_lines::{DiskFs, Paths};
use chatos_paths::{Environment, Locations, StateDir};
use chatos_prompts::{
    Answered, Config, Inserted, KeySigner, NewAnswer, NewRecord, Object, OutboxRow, Private, Prompts,
    RawRecord, Record, Records, RecordsError, RequestId, Role, SystemClock,
};
use chatos_settings::SettingsInput;
use chatos_store::{OpenOptions, Store};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::Value;

use crate::inbox::{log_mode, open_queue};
use crate::questions::Questions;

/// The queue of a state that nobody serves, with its records. `host.lock` is taken for the moment of a record.
pub fn recorded(environment: &Environment, places: &Locations) -> Result<Questions, Fault> {
    let dir = StateDir::existing(&places.state_dir)?;
    let store = Store::open(OpenOptions::beside(&dir))?;
    let input =
        SettingsInput { flags: std::collections::BTreeMap::new(), env: environment.variables().clone() };
    open(environment, places, store, input, Role::Visitor)
}

/// The queue for a process next to the host: it knows what it asked itself, and what it adopts.
pub fn beside(
    environment: &Environment,
    places: &Locations,
    store: Store,
    input: SettingsInput,
) -> Result<Questions, Fault> {
    open(environment, places, store, input, Role::Asker)
}

fn open(
    environment: &Environment,
    places: &Locations,
    store: Store,
    input: SettingsInput,
    role: Role,
) -> Result<Questions, Fault> {
    let dir = StateDir::existing(&places.state_dir)?;
    let key = StateKey::of(&KeyPlace::of(environment, places), &store)?;
    let mode = log_mode(&store.load_settings(input)?);
    let (prompts, _) = open_queue(&store, &key, dir.path(), role, mode)?;
    Ok(Questions::new(prompts, Some(store), Some(dir)))
}

/// The queue of a directory without a database: every line is another program's, and nothing will be written.
pub fn unrecorded(dir: &std::path::Path) -> Result<Questions, Fault> {
    let mut key = [0u8; 32];
    getrandom::fill(&mut key).map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("no random bytes from the system", "系统未提供随机数"))
            .caused_by(&std::io::Error::other(error.to_string()))
    })?;
    let prompts = Prompts::open(Config {
        paths: Paths::in_state_dir(dir),
        records: Arc::new(NoRecords),
        signer: Arc::new(KeySigner::new(key)),
        clock: Arc::new(SystemClock),
        fs: Arc::new(DiskFs),
        role: Role::Visitor,
        mode: chatos_prompts::LogMode::Full,
    });
    let prompts = prompts.map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot read the prompt log", "无法读取交互日志"))
            .caused_by(&error)
    })?;
    Ok(Questions::new(prompts, None, None))
}

/// There is no store, so nothing was ever served.
struct NoRecords;

fn absent<T>() -> Result<T, RecordsError> {
    Err(RecordsError::Unavailable("there is no database yet".to_owned()))
}

impl Records for NoRecords {
    fn get(&self, _: &RequestId) -> Result<Option<Record>, RecordsError> {
        Ok(None)
    }

    fn scan(&self, _: &mut dyn FnMut(RawRecord<'_>)) -> Result<(), RecordsError> {
        Ok(())
    }

    fn insert(&self, _: &NewRecord) -> Result<Inserted, RecordsError> {
        absent()
    }

    fn restore(&self, _: &NewRecord) -> Result<(), RecordsError> {
        absent()
    }

    fn answer(&self, _: &RequestId, _: &NewAnswer) -> Result<Answered, RecordsError> {
        absent()
    }

    fn mark_used(&self, _: &RequestId, _: i64) -> Result<bool, RecordsError> {
        absent()
    }

    fn outbox(&self, _: usize) -> Result<Vec<OutboxRow>, RecordsError> {
        Ok(Vec::new())
    }

    fn mark_mirrored(&self, _: &[i64], _: i64) -> Result<(), RecordsError> {
        absent()
    }

    fn peek_private(&self, _: &RequestId) -> Result<Option<Private>, RecordsError> {
        Ok(None)
    }

    fn take_private(&self, _: &RequestId) -> Result<Option<Private>, RecordsError> {
        Ok(None)
    }

    fn sweep_private(&self, _: i64) -> Result<usize, RecordsError> {
        Ok(0)
    }

    fn reduce(&self, _: &RequestId, _: &Value, _: &Object) -> Result<(), RecordsError> {
        absent()
    }
}
