//! The store behind served prompts, as `chatos-prompts` asks for it: rows in SQLite, private answers
//! sealed with the state key.

use chatos_keys::{StateKey, SubKey};
use chatos_prompts::{
    Answered, Inserted, NewAnswer, NewRecord, Object, OutboxRow, Owner, Private, RawRecord, Record,
    RecordedAnswer, Records, RecordsError, RequestId, Signer, whole,
};
use chatos_store::{
    Kept, NewPrompt, NewPromptAnswer, PromptAnswered, PromptRow, SealedAnswer, Store, StoreError,
    StoreErrorKind,
};
use serde_json::Value;

/// Records on `state.db`.
pub(crate) struct StoreRecords {
    store: Store,
    secrets: SubKey,
    instance: String,
}

impl StoreRecords {
    pub(crate) fn new(store: &Store, key: &StateKey) -> Self {
        let instance = store.instance_id().unwrap_or_default();
        Self { store: store.clone(), secrets: key.sub_key("secrets"), instance }
    }

    // state §6: a sealed value cannot be moved to another row.
    fn place(&self, id: &RequestId) -> String {
        format!("{}|prompt_secrets|{id}|sealed", self.instance)
    }

    /// The text that a question shows only in part. It is kept before the question is written.
    fn text_of(&self, new: &NewRecord) -> Result<Option<Kept>, RecordsError> {
        let prompt = new.entry.get("prompt").and_then(Value::as_object);
        let Some((sha256, ..)) = prompt.and_then(whole::cut_reference) else { return Ok(None) };
        let kept = self.store.kept_blob(sha256);
        kept.map(Some).ok_or_else(|| RecordsError::Unavailable("the whole text is not kept".to_owned()))
    }

    fn unseal(&self, id: &RequestId, row: &SealedAnswer) -> Result<Private, RecordsError> {
        let bytes = self
            .secrets
            .open(&self.place(id), &row.sealed)
            .map_err(|error| RecordsError::Unavailable(error.to_string()))?;
        let response: Object =
            serde_json::from_slice(&bytes).map_err(|error| RecordsError::Corrupt(error.to_string()))?;
        Ok(Private { owner: Owner::stored(row.owner.as_str()), response, expires_at: row.expires_at })
    }
}

/// Signs prompt lines with the sub-key of the state.
pub(crate) fn signer(key: &StateKey) -> impl Signer + use<> {
    LineSigner(key.sub_key("prompts"))
}

struct LineSigner(SubKey);

impl Signer for LineSigner {
    fn sign(&self, bytes: &[u8]) -> [u8; 32] {
        self.0.sign(&[bytes])
    }

    fn verify(&self, bytes: &[u8], mac: &[u8]) -> bool {
        self.0.verify(&[bytes], mac)
    }
}

fn failed(error: StoreError) -> RecordsError {
    match error.kind {
        StoreErrorKind::Full => RecordsError::Full,
        StoreErrorKind::Corrupt => RecordsError::Corrupt(error.message),
        _ => RecordsError::Unavailable(error.message),
    }
}

fn record(row: PromptRow) -> Result<Record, RecordsError> {
    let corrupt =
        |error: &dyn std::fmt::Display| RecordsError::Corrupt(format!("{}: {error}", row.request_id));
    let request_id = RequestId::parse(&row.request_id).map_err(|e| corrupt(&e))?;
    let entry: Value = serde_json::from_str(&row.entry).map_err(|e| corrupt(&e))?;
    let answer = match (&row.answer, row.answered_at) {
        (Some(text), Some(at)) => {
            let response: Object = serde_json::from_str(text).map_err(|e| corrupt(&e))?;
            Some(RecordedAnswer { response, by: row.answer_by.clone(), at })
        }
        _ => None,
    };
    Ok(Record {
        request_id,
        owner: Owner::stored(row.owner),
        entry,
        shown: row.shown,
        expires_at: row.expires_at,
        answer,
        used_at: row.used_at,
    })
}

fn new_prompt(new: &NewRecord, line: Option<String>, diff: Option<Kept>) -> NewPrompt {
    NewPrompt {
        request_id: new.request_id.as_str().to_owned(),
        owner: new.owner.as_str().to_owned(),
        entry: new.entry.to_string(),
        shown: new.shown.clone(),
        expires_at: new.expires_at,
        created_at: new.created_at,
        diff,
        // A result waits for nobody, and what is restored was told of before.
        tell: line.is_some() && new.entry.pointer("/prompt/kind").and_then(Value::as_str) != Some("result"),
        line,
    }
}

impl Records for StoreRecords {
    fn get(&self, id: &RequestId) -> Result<Option<Record>, RecordsError> {
        self.store.prompt(id.as_str()).map_err(failed)?.map(record).transpose()
    }

    fn scan(&self, each: &mut dyn FnMut(RawRecord<'_>)) -> Result<(), RecordsError> {
        let one = |request_id: &str, entry: &str, answer: Option<&str>, answered_at| {
            each(RawRecord { request_id, entry, answer, answered_at });
        };
        self.store.each_prompt(one).map_err(failed)
    }

    fn insert(&self, new: &NewRecord) -> Result<Inserted, RecordsError> {
        let row = new_prompt(new, Some(new.line.clone()), self.text_of(new)?);
        match self.store.insert_prompt(row).map_err(failed)? {
            Ok(Some(outbox)) => Ok(Inserted::New { outbox }),
            Ok(None) => Err(RecordsError::Corrupt("a line was not queued".to_owned())),
            Err(row) => Ok(Inserted::Exists(Box::new(record(*row)?))),
        }
    }

    fn restore(&self, new: &NewRecord) -> Result<(), RecordsError> {
        self.store.insert_prompt(new_prompt(new, None, self.text_of(new)?)).map(drop).map_err(failed)
    }

    fn answer(&self, id: &RequestId, new: &NewAnswer) -> Result<Answered, RecordsError> {
        let private = match &new.private {
            None => None,
            Some(private) => {
                let text = zeroize::Zeroizing::new(Value::Object(private.response.clone()).to_string());
                let sealed = self
                    .secrets
                    .seal(&self.place(id), text.as_bytes())
                    .map_err(|error| RecordsError::Unavailable(error.to_string()))?;
                Some((private.owner.as_str().to_owned(), sealed, private.expires_at))
            }
        };
        let answer = NewPromptAnswer {
            answer: Value::Object(new.response.clone()).to_string(),
            by: new.by.clone(),
            at: new.at,
            line: new.line.clone(),
            private,
        };
        match self.store.answer_prompt(id.as_str(), answer).map_err(failed)? {
            PromptAnswered::Won(outbox) => Ok(Answered::Won { outbox }),
            PromptAnswered::Unknown => Ok(Answered::Unknown),
            PromptAnswered::Lost(row) => match record(*row)?.answer {
                Some(first) => Ok(Answered::Lost(first)),
                None => Err(RecordsError::Corrupt(format!("{id}: answered without an answer"))),
            },
        }
    }

    fn mark_used(&self, id: &RequestId, at: i64) -> Result<bool, RecordsError> {
        self.store.use_prompt(id.as_str(), at).map_err(failed)
    }

    fn outbox(&self, limit: usize) -> Result<Vec<OutboxRow>, RecordsError> {
        let lines = self.store.unmirrored_lines(limit).map_err(failed)?;
        lines
            .into_iter()
            .map(|line| {
                let request_id = RequestId::parse(&line.request_id)
                    .map_err(|error| RecordsError::Corrupt(format!("{}: {error}", line.request_id)))?;
                Ok(OutboxRow { id: line.id, request_id, line: line.line, created_at: line.created_at })
            })
            .collect()
    }

    fn mark_mirrored(&self, ids: &[i64], at: i64) -> Result<(), RecordsError> {
        self.store.mark_mirrored(ids, at).map_err(failed)
    }

    fn peek_private(&self, id: &RequestId) -> Result<Option<Private>, RecordsError> {
        let row = self.store.sealed_answer(id.as_str()).map_err(failed)?;
        row.map(|row| self.unseal(id, &row)).transpose()
    }

    fn take_private(&self, id: &RequestId) -> Result<Option<Private>, RecordsError> {
        let row = self.store.take_sealed_answer(id.as_str()).map_err(failed)?;
        row.map(|row| self.unseal(id, &row)).transpose()
    }

    fn sweep_private(&self, now: i64) -> Result<usize, RecordsError> {
        self.store.sweep_sealed_answers(now).map_err(failed)
    }

    fn reduce(&self, id: &RequestId, entry: &Value, answer: &Object) -> Result<(), RecordsError> {
        let answer = Value::Object(answer.clone()).to_string();
        self.store.reduce_prompt(id.as_str(), entry.to_string(), answer).map_err(failed)
    }
}
